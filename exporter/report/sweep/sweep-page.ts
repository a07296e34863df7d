import type { Sweep } from '../../../core/sweeps/sweep-shape.ts';
import { objectiveWords } from '../../../core/objectives/words.ts';
import { withinText } from '../../../core/sweeps/within-text.ts';
import { ABSENT, counted, significant } from '../../../core/text/quantities.ts';
import { things } from '../../../core/text/things.ts';
import { documentOf } from '../document.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { sweepCharts } from './sweep-charts.ts';
import { gpusOf, type SweepReport } from './sweep-report.ts';
import { sweepTables } from './sweep-table.ts';

/** The report of sweeps as one self-contained HTML page. */
export function sweepPage(report: SweepReport): string {
  return documentOf(
    report.title,
    html`${header(report)} ${comparison(report)} ${sweepCharts(report)} ${sweepTables(report)}
      <footer>
        generated from run.json and result.json of ${things(runsOf(report.sweeps), 'runs')} · contains no prompts or
        responses
      </footer>`,
  );
}

function header(report: SweepReport): Html {
  const { title, sweeps, notes } = report;
  const [only] = sweeps;
  const shared = (of: (sweep: Sweep) => string | null): string | null => {
    const values = new Set(sweeps.map(of));
    const [only = null] = values;
    return values.size === 1 ? only : null;
  };
  const system = shared((sweep) => words(sweep.system, sweep.system_version));
  const [model, origin] = [shared((sweep) => sweep.model), shared((sweep) => sweep.origin)];
  const dataset = shared((sweep) => sweep.dataset);
  return html`<header>
    <h1>${title}</h1>
    <p class="soft">${[model, origin && `at ${origin}`, system && `(${system})`].filter(Boolean).join(' ')}</p>
    <ul class="facts">
      ${sweeps.length > 1 ? html`<li>Sweeps <b>${sweeps.length}</b></li>` : null}
      <li>Loads <b>${loadsText(sweeps)}</b></li>
      <li>Runs <b>${runsOf(sweeps)}</b></li>
      ${dataset === null ? null : html`<li>Dataset <b>${dataset}</b></li>`}
      <li>Started <b>${shared((sweep) => startText(sweep)) ?? 'at different times'}</b></li>
      ${only === undefined || sweeps.length > 1 ? null : resultFacts(report, only)}
    </ul>
    ${notes.map((note) => html`<p class="alert mild">${note}</p>`)}
  </header> `;
}

/** Knee, largest load within the objectives and GPUs of a single sweep. */
function resultFacts(report: SweepReport, sweep: Sweep): Html {
  const within = sweep.within_objective;
  const gpus = gpusOf(report, sweep);
  return html`<li>Knee <b>${kneeText(sweep)}</b></li>
    ${
      within === null
        ? null
        : html`<li>
            ${objectivesText(sweep)} <b class="${within.holds === null ? 'bad' : 'good'}">${withinText(within)}</b>
          </li>`
    }
    ${gpus === null ? null : html`<li>GPUs <b>${gpus}</b></li>`}`;
}

/** The same of several as a table, with the throughput at the largest load within the objectives. */
function comparison(report: SweepReport): Html | null {
  const { sweeps, names } = report;
  if (sweeps.length === 1) return null;
  return html`<section>
    <h2>Sweeps</h2>
    <div class="card">
      <table class="data">
        <thead>
          <tr>
            <th>Sweep</th>
            <th class="text">Objectives</th>
            <th class="text">Loads at which they are met</th>
            <th>Output tokens/s<small>at the largest of them</small></th>
            <th>Knee</th>
            <th>Most output tokens/s</th>
            <th>GPUs</th>
          </tr>
        </thead>
        <tbody>
          ${sweeps.map((sweep, i) => comparisonRow(report, sweep, names[i] ?? ''))}
        </tbody>
      </table>
    </div>
  </section> `;
}

function comparisonRow(report: SweepReport, sweep: Sweep, name: string): Html {
  const { within_objective: within, steps } = sweep;
  const throughputs = steps.map(({ load, values }) => ({ load, value: values.output_token_throughput?.mean ?? null }));
  const atLargest = throughputs.find(({ load }) => load === within?.holds)?.value;
  const known = throughputs.flatMap(({ value }) => (value === null ? [] : [value]));
  return html`<tr>
    <th>${name}</th>
    <td class="text">${within === null ? ABSENT : objectivesText(sweep)}</td>
    <td class="text ${within === null ? '' : within.holds === null ? 'bad' : 'good'}">
      ${within === null ? ABSENT : withinText(within)}
    </td>
    <td>${counted(atLargest)}</td>
    <td>${kneeText(sweep)}</td>
    <td>${counted(known.length === 0 ? null : Math.max(...known))}</td>
    <td>${counted(gpusOf(report, sweep))}</td>
  </tr>`;
}

const kneeText = ({ knee }: Sweep): string => (knee === null ? 'none' : significant(knee.load));

const objectivesText = ({ steps }: Sweep): string =>
  [...new Set(steps.flatMap(({ slos }) => slos.map(objectiveWords)))].join(', ');

function loadsText(sweeps: readonly Sweep[]): string {
  return [
    ...new Set(
      sweeps.map(
        ({ load_mode, steps }) =>
          `${load_mode.replaceAll('_', ' ')} ${steps.map(({ load }) => significant(load)).join(', ')}`,
      ),
    ),
  ].join('; ');
}

const runsOf = (sweeps: readonly Sweep[]): number =>
  sweeps.reduce((sum, { steps }) => sum + steps.reduce((all, { runs }) => all + runs.length, 0), 0);

const startText = ({ start }: Sweep): string =>
  start === null ? 'unknown' : `${start.slice(0, 16).replace('T', ' ')} UTC`;

function words(...parts: readonly (string | null)[]): string | null {
  const known = parts.filter((part) => part !== null);
  return known.length === 0 ? null : known.join(' ');
}
