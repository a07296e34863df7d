import { shortTitle } from '../../../core/measures/names.ts';
import type { StepValue, SweepStep } from '../../../core/sweeps/sweep-shape.ts';
import type { SweepFigure } from '../../../core/sweeps/sweep-figures.ts';
import { ABSENT, counted, quantity, quantityRange, significant } from '../../../core/text/quantities.ts';
import { countOf, FAILED_OUTCOMES } from '../../../core/run/request-counts.ts';
import type { Unit } from '../../../core/run/statistic.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { verdictCell } from '../words.ts';
import { gpusOf, type SweepReport } from './sweep-report.ts';

const COLUMNS: readonly (readonly [head: string, below: string, figure: SweepFigure, unit: Unit])[] = [
  ['Requests/s', '', 'request_throughput', 'requests_per_second'],
  ['Output', 'tokens/s', 'output_token_throughput', 'tokens_per_second'],
  [shortTitle('time_to_first_token'), 'p50', 'time_to_first_token_p50', 'seconds'],
  [shortTitle('time_to_first_token'), 'p99', 'time_to_first_token_p99', 'seconds'],
  [shortTitle('inter_token_latency'), 'p50', 'inter_token_latency_p50', 'seconds'],
  [shortTitle('inter_token_latency'), 'p99', 'inter_token_latency_p99', 'seconds'],
  ['Goodput', 'requests/s', 'goodput', 'requests_per_second'],
];

/** The steps of each sweep, with the range over the repeats. */
export function sweepTables(report: SweepReport): Html {
  return html`<section>
    <h2>Steps</h2>
    ${report.sweeps.map((_, i) => sweepTable(report, i))}
  </section> `;
}

function sweepTable(report: SweepReport, i: number): Html {
  const sweep = report.sweeps[i];
  if (sweep === undefined) return html``;
  const gpus = gpusOf(report, sweep);
  const hasObjectives = sweep.steps.some(({ objective }) => objective !== null);
  const columns = COLUMNS.filter(([, , figure]) => sweep.steps.some(({ values }) => values[figure] !== null));
  return html`${report.sweeps.length > 1 ? html`<h3>${report.names[i] ?? ''}</h3>` : null}
    <div class="card">
      <table class="data">
        <thead>
          <tr>
            <th>${sweep.load_mode === 'concurrency' ? 'Concurrency' : 'Requests/s sent'}<small>run</small></th>
            ${hasObjectives ? html`<th>Objective</th>` : null}
            <th>Requests<small>errors</small></th>
            ${columns.map(([head, below]) => html`<th>${head}<small>${below}</small></th>`)}
            <th>Per user<small>tokens/s, p50</small></th>
            ${gpus === null ? null : html`<th>Per GPU<small>tokens/s</small></th>`}
          </tr>
        </thead>
        <tbody>
          ${sweep.steps.map(
            (step) =>
              html`<tr>
                <th>
                  ${significant(step.load)}${marksOf(step, sweep)}${step.runs.map(({ run_id, status }) => html`<small><a href="${encodeURIComponent(run_id)}/report.html">${run_id}</a>${status === 'completed' ? null : ` (${status})`}</small>`)}
                </th>
                ${hasObjectives ? verdictCell(step.objective) : null}
                <td>${counted(step.requests.ok)}<small>${counted(countOf(step.requests, FAILED_OUTCOMES))}</small></td>
                ${columns.map(([, , figure, unit]) => cell(step.values[figure], unit))}
                ${cell(step.values.tokens_per_second_per_user_p50, 'tokens_per_second')}
                ${gpus === null ? null : html`<td>${perGpu(step, gpus)}</td>`}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
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
