import { join } from 'node:path';
import { shortTitle } from '../../../core/measures/names.ts';
import { objectiveWords } from '../../../core/objectives/grammar.ts';
import { countOf, FAILED_OUTCOMES } from '../../../core/run/record.ts';
import type { Unit } from '../../../core/run/statistic.ts';
import type { SweepFigure } from '../../../core/sweeps/sweep-figures.ts';
import type { StepValue, SweepStep, Sweep } from '../../../core/sweeps/sweep-shape.ts';
import { withinText } from '../../../core/sweeps/sweep-names.ts';
import { ABSENT, counted, quantity, quantityRange, significant, things } from '../../../core/text/quantities.ts';
import { replaceFile, besideOutput } from '../../files/durable-file.ts';
import { documentOf } from '../document.ts';
import { dataTable, headBelow, headOfText, html, type Html } from '../html.ts';
import { verdictCell } from '../words.ts';
import { gpusOf, sweepCharts, type SweepReport } from './sweep-charts.ts';

const COLUMNS: readonly (readonly [head: string, below: string, figure: SweepFigure, unit: Unit])[] = [
  ['Requests/s', '', 'request_throughput', 'requests_per_second'],
  ['Output', 'tokens/s', 'output_token_throughput', 'tokens_per_second'],
  [shortTitle('time_to_first_token'), 'p50', 'time_to_first_token_p50', 'seconds'],
  [shortTitle('time_to_first_token'), 'p99', 'time_to_first_token_p99', 'seconds'],
  [shortTitle('inter_token_latency'), 'p50', 'inter_token_latency_p50', 'seconds'],
  [shortTitle('inter_token_latency'), 'p99', 'inter_token_latency_p99', 'seconds'],
  ['Goodput', 'requests/s', 'goodput', 'requests_per_second'],
  ['Per user', 'tokens/s, p50', 'tokens_per_second_per_user_p50', 'tokens_per_second'],
];

/** The steps of a sweep, with the range over the repeats. */
function stepTable(report: SweepReport, sweep: Sweep, name: string): Html {
  const gpus = gpusOf(report, sweep);
  const hasObjectives = sweep.steps.some(({ objective }) => objective !== null);
  const columns = COLUMNS.filter(([, , figure]) => sweep.steps.some(({ values }) => values[figure] !== null));
  const heads = [
    headBelow(sweep.load_mode === 'concurrency' ? 'Concurrency' : 'Requests/s sent', 'run'),
    ...(hasObjectives ? ['Objective'] : []),
    headBelow('Requests', 'errors'),
    ...columns.map(([head, below]) => headBelow(head, below)),
    ...(gpus === null ? [] : [headBelow('Per GPU', 'tokens/s')]),
  ];
  return html`${report.sweeps.length > 1 ? html`<h3>${name}</h3>` : null}
  ${dataTable(
    heads,
    sweep.steps.map(
      (step) =>
        html`<tr>
          <th>
            ${significant(step.load)}${marksOf(step, sweep)}${step.runs.map(({ run_id, status }) => html`<small><a href="${encodeURIComponent(run_id)}/report.html">${run_id}</a>${status === 'completed' ? null : ` (${status})`}</small>`)}
          </th>
          ${hasObjectives ? verdictCell(step.objective) : null}
          <td>${counted(step.requests.ok)}<small>${counted(countOf(step.requests, FAILED_OUTCOMES))}</small></td>
          ${columns.map(([, , figure, unit]) => cell(step.values[figure], unit))}
          ${gpus === null ? null : html`<td>${perGpu(step, gpus)}</td>`}
        </tr>`,
    ),
  )}`;
}

function marksOf({ load }: SweepStep, { knee, within_objective }: SweepReport['sweeps'][number]): string | null {
  const marks = [
    ...(knee?.load === load ? ['knee'] : []),
    ...(within_objective?.holds === load ? ['largest within the objective'] : []),
  ];
  return marks.length === 0 ? null : ` · ${marks.join(', ')}`;
}

function cell(value: StepValue | null, unit: Unit): Html {
  if (value === null) return html`<td>${ABSENT}</td>`;
  const bare = (text: string): string => text.replaceAll(/ (requests|tokens)\/s/g, '');
  const range =
    value.min === value.max ? null : html`<small>${bare(quantityRange([value.min, value.max], unit))}</small>`;
  return html`<td>${bare(quantity(value.mean, unit))}${range}</td>`;
}

function perGpu({ values }: SweepStep, gpus: number): string {
  const throughput = values.output_token_throughput;
  return throughput === null ? ABSENT : significant(throughput.mean / gpus);
}

/** The report of sweeps as one self-contained HTML page. */
export function sweepPage(report: SweepReport): string {
  return documentOf(
    report.title,
    html`${header(report)} ${results(report)} ${sweepCharts(report)}
      <section>
        <h2>Steps</h2>
        ${report.sweeps.map((sweep, i) => stepTable(report, sweep, report.names[i] ?? ''))}
      </section>
      <footer>
        generated from run.json and result.json of ${things(runsOf(report.sweeps), 'runs')} · contains no prompts or
        responses
      </footer>`,
  );
}

function header(report: SweepReport): Html {
  const { title, sweeps, notes } = report;
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
    </ul>
    ${notes.map((note) => html`<p class="alert mild">${note}</p>`)}
  </header> `;
}

/** What each sweep comes to, with the throughput at the largest load within its objectives. */
function results(report: SweepReport): Html {
  const { sweeps, names } = report;
  return html`<section>
    <h2>${sweeps.length > 1 ? 'Results' : 'Result'}</h2>
    ${dataTable(
      [
        ...['Sweep', headOfText('Objectives'), headOfText('Loads at which they are met')],
        ...[headBelow('Output tokens/s', 'at the largest of them'), 'Knee', 'Most output tokens/s', 'GPUs'],
      ],
      sweeps.map((sweep, i) => resultRow(report, sweep, names[i] ?? '')),
    )}
  </section> `;
}

function resultRow(report: SweepReport, sweep: Sweep, name: string): Html {
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

/** Writes the report of a group beside its runs. Returns the path; throws the file system's error. */
export async function writeSweepReport(runsDirectory: string, name: string, report: SweepReport): Promise<string> {
  const path = join(runsDirectory, `${fileName(name)}.report.html`);
  await replaceFile(path, sweepPage(report), besideOutput);
  return path;
}

/** Groups of other tools and scenarios may have names that are no file names. The dot makes it no run's. */
function fileName(name: string): string {
  return encodeURIComponent(name).replaceAll('*', '%2a').slice(0, MAX_CHARACTERS);
}

const MAX_CHARACTERS = 150;
