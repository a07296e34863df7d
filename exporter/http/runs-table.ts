import { shortTitle } from '../../core/measures/names.ts';
import { things, quantity } from '../../core/text/quantities.ts';
import type { Unit } from '../../core/run/statistic.ts';
import { countOf, OUTCOMES } from '../../core/run/record.ts';
import type { KeyNumbers, RunSummary } from '../../core/api/runs.ts';
import { html } from '../report/html.ts';
import type { Html } from '../report/html.ts';

const MAX_RUNS = 50;

/** A numeric column. */
interface NumberColumn {
  readonly head: string;
  readonly unit: Unit;
  readonly value: (numbers: KeyNumbers) => number | null | undefined;
}

const COLUMNS: readonly NumberColumn[] = [
  { head: shortTitle('time_to_first_token', 'p50'), unit: 'seconds', value: (n) => n.time_to_first_token_seconds?.p50 },
  { head: shortTitle('time_to_first_token', 'p99'), unit: 'seconds', value: (n) => n.time_to_first_token_seconds?.p99 },
  { head: shortTitle('inter_token_latency', 'p50'), unit: 'seconds', value: (n) => n.inter_token_latency_seconds?.p50 },
  { head: 'latency p99', unit: 'seconds', value: (n) => n.request_latency_seconds?.p99 },
  { head: 'output', unit: 'tokens_per_second', value: (n) => n.output_token_throughput },
  { head: 'errors', unit: 'ratio', value: (n) => n.error_ratio },
];

/** The newest runs for users without Grafana, each with a link to its report. */
export function runsTable(runs: readonly RunSummary[]): Html {
  if (runs.length === 0) return html`<p>No runs yet.</p>`;
  const shown = runs.slice(0, MAX_RUNS);
  const differ = new Set(shown.map(({ dataset }) => dataset)).size > 1;
  const older = runs.length - shown.length;
  return html`<div class="runs" tabindex="0">
    <table>
      <caption>
        ${things(runs.length, 'runs')}, newest
        first${older > 0 ? html`; ${older} older runs are available from the API` : null}
      </caption>
      <thead>
        <tr>
          <th>start (UTC)</th>
          <th>scenario</th>
          <th>model</th>
          <th>load</th>
          ${differ ? html`<th>dataset</th>` : null}
          <th>system</th>
          <th>status</th>
          <th class="n">requests</th>
          ${COLUMNS.map(({ head }) => html`<th class="n">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${shown.map((run) => row(run, differ))}
      </tbody>
    </table>
  </div>`;
}

function row(run: RunSummary, withDataset: boolean): Html {
  const { run_id, start, scenario, model, load, system, status, numbers } = run;
  const when = start === null ? run_id : start.slice(0, 19).replace('T', ' ');
  const name = status === 'running' ? html`${when}` : html`<a href="runs/${run_id}" title="${run_id}">${when}</a>`;
  const cells = COLUMNS.map(
    ({ unit, value }) => html`<td class="n">${quantity(numbers === null ? null : value(numbers), unit)}</td>`,
  );
  return html`<tr>
    <td>${name}</td>
    <td>${scenario}</td>
    <td>${model ?? '–'}</td>
    <td>${load ?? '–'}</td>
    ${withDataset ? html`<td>${run.dataset ?? '–'}</td>` : null}
    <td>${system ?? '–'}</td>
    <td>${statusText(run)}</td>
    <td class="n">${requestsText(run)}</td>
    ${cells}
  </tr> `;
}

function statusText({ status, numbers }: RunSummary): string {
  return numbers?.client_verdict === 'saturated' ? `${status}, client saturated` : status;
}

function requestsText({ numbers, progress }: RunSummary): string {
  if (numbers !== null) return String(countOf(numbers.requests, OUTCOMES) ?? '–');
  if (progress === null) return '–';
  return `${progress.requests_done}${progress.requests_planned === null ? '' : ` of ${progress.requests_planned}`}`;
}
