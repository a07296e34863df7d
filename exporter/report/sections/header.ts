import { loadText } from '../../../core/run/load.ts';
import { quantity } from '../../../core/text/quantities.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { countOf, FAILED_OUTCOMES } from '../../../core/run/request-counts.ts';
import { OUTCOMES } from '../../../core/run/record.ts';
import { runTitle } from '../run-title.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { ReportData } from '../report-data.ts';
import { scalarOf } from '../report-data.ts';

/** Responses that differ from the requested length by more than this change the load. */
const LENGTH_TOLERANCE = 0.05;

/** Target, load, time and status of the run, and warnings that precede any number. */
export function header({ run, result, notes }: ReportData): Html {
  const { target, comparison_key: key, tool } = run;
  const requests = countOf(result.requests, OUTCOMES);
  const server = [target.system, target.system_version].filter((part) => part !== null).join(' ');
  return html`<header>
    <h1>
      ${runTitle(run)}<span class="status ${result.status === 'completed' ? 'good' : 'bad'}">${result.status}</span>
    </h1>
    <p class="soft">${target.origin}${server === '' ? null : ` (${server})`}</p>
    <ul class="facts">
      <li>Load <b>${key.load === null ? 'unknown' : loadText(key.load)}</b></li>
      <li>Requests <b>${requests?.toLocaleString('en-US') ?? 'unknown'}</b></li>
      <li>Measured for <b>${quantity(result.window.seconds, 'seconds')}</b></li>
      <li>Started <b>${instantWords(run.start)}</b></li>
      ${objectivesFact(result)}
      <li>Client <b class="${clientStyle(result.client.verdict)}">${result.client.verdict}</b></li>
      <li>
        Run <b><code>${run.run_id}</code></b>
      </li>
      <li>${tool.name} <b>${tool.version ?? ''}</b></li>
    </ul>
    ${alerts(run, result, notes)}
  </header> `;
}

function instantWords(instant: string | null): string {
  return instant === null ? 'unknown' : `${instant.slice(0, 19).replace('T', ' ')} UTC`;
}

function objectivesFact({ slos }: ReportData['result']): Html | null {
  if (slos.length === 0) return null;
  const missed = slos.filter(({ verdict }) => verdict === 'not_met').length;
  const undecided = slos.filter(({ verdict }) => verdict === 'undecided').length;
  const words = missed > 0 ? `${missed} of ${slos.length} not met` : undecided > 0 ? `${undecided} undecided` : 'met';
  return html`<li>Objectives <b class="${missed > 0 ? 'bad' : undecided > 0 ? 'warn' : 'good'}">${words}</b></li> `;
}

function clientStyle(verdict: string): string {
  return verdict === 'ok' ? 'good' : verdict === 'saturated' ? 'bad' : 'warn';
}

function alerts(run: RunFile, result: ReportData['result'], notes: readonly string[]): Html[] {
  const { client, requests, servers } = result;
  const length = scalarOf(result, 'achieved_output_ratio')?.value ?? null;
  const failed = FAILED_OUTCOMES.reduce((sum, outcome) => sum + (requests[outcome] ?? 0), 0);
  const all: (Html | null)[] = [
    client.verdict === 'saturated'
      ? alert(
          'bad',
          `The client was saturated (${client.why ?? 'no reason reported'}): the results may show its limits instead of the server's.`,
        )
      : null,
    run.failure === null
      ? null
      : alert('bad', `The run ${result.status === 'aborted' ? 'was aborted' : result.status}: ${run.failure}.`),
    requests.ok === 0 ? alert('bad', 'No request succeeded: no latencies are available.') : null,
    failed > 0 && requests.ok !== 0
      ? alert(
          'mild',
          `${failed.toLocaleString('en-US')} requests failed. Latencies are over ok requests unless stated otherwise.`,
        )
      : null,
    length !== null && Math.abs(length - 1) > LENGTH_TOLERANCE
      ? alert(
          'mild',
          `Responses have ${quantity(length, 'ratio')} of the requested tokens: set ignore_eos and min_tokens to make the server generate all of them.`,
        )
      : null,
    servers !== null && servers.why !== null
      ? alert('mild', `The server metrics are not exact for this run: ${servers.why.replace(/^not exact: /, '')}.`)
      : null,
    ...notes.map((note) => alert('mild', note)),
  ];
  return all.filter((each) => each !== null);
}

function alert(kind: 'bad' | 'mild', text: string): Html {
  return html`<p class="alert ${kind}">${text}</p> `;
}
