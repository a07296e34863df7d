import { capitalized, measureTitle } from '../../../core/measures/names.ts';
import { loadText } from '../../../core/run/load.ts';
import { provenanceFacts } from '../../../core/run/provenance.ts';
import { OUTCOMES, countOf, FAILED_OUTCOMES } from '../../../core/run/record.ts';
import { distributionOf, scalarOf, type DistributionResult, type ResultFile } from '../../../core/run/result.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { quantity, ABSENT, counted, quantityRange, significant } from '../../../core/text/quantities.ts';
import { shellCommand } from '../../../core/text/words.ts';
import { dataTable, html, type Html } from '../html.ts';
import { latenciesOf, withoutStreamText, type ReportData, type ReportLatency } from '../report-data.ts';
import { runTitle, tooFew } from '../words.ts';

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
  const length = scalarOf(result.measures, 'achieved_output_ratio')?.value ?? null;
  const noStream = withoutStreamText(result);
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
    noStream === null ? null : alert('mild', noStream),
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

/** The comparison key of run.json, the fingerprint, the dataset's options, the command and what is known of the client. */
export function configuration({ run, result }: ReportData): Html {
  // The definitions are listed with the measures.
  const key = Object.entries(run.comparison_key).filter(([name]) => name !== 'measure_definitions');
  const { client } = result;
  const leaves = flattened(Object.fromEntries(key));
  const unset = leaves.filter(([, value]) => value === null).map(([name]) => name);
  // A recorded load has a section of its own.
  const options = flattened({ dataset: run.dataset }).filter(([name]) => !name.startsWith('dataset recorded load'));
  const rows: (readonly [string, string | Html])[] = [
    ['fingerprint', html`<code>${run.fingerprint}</code>`],
    ...leaves.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
    [
      'run',
      [run.run_id, ...named('group', run.group_id), ...named('step', run.step), ...named('repeat', run.repeat)].join(
        ', ',
      ),
    ],
    ...options.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
    ['command', run.command_line === null ? 'unknown' : shellCommand(run.command_line)],
    ...(run.provenance === null ? [] : provenanceFacts(run.provenance)),
    ['target', run.target.origin ?? 'unknown'],
    ['start', run.start ?? 'unknown'],
    ['end', run.end ?? 'unknown'],
    ['client', client.why === null ? client.verdict : `${client.verdict}: ${client.why}`],
    [
      'client event-loop delay',
      `p99 ${quantity(client.event_loop_delay_p99_seconds, 'seconds')}, max ${quantity(client.event_loop_delay_max_seconds, 'seconds')}`,
    ],
    ['client CPU', quantity(client.cpu_seconds, 'seconds')],
  ];
  return html`<section>
    <h2>Configuration</h2>
    <p class="note">
      Runs are comparable if their fingerprints are equal. The fingerprint is the SHA-256 of the comparison key in
      run.json: the values up to <code>streaming</code> and the definitions of the measures. The dataset’s options
      determine its <code>dataset plan sha256</code>.
    </p>
    ${dataTable(
      [],
      rows.map(
        ([name, value]) =>
          html`<tr>
            <th>${name}</th>
            <td class="text">${value}</td>
          </tr>`,
      ),
    )}
    <p class="note">Not set or unknown: ${unset.join(', ')}.</p>
  </section> `;
}

function named(name: string, value: string | number | null): string[] {
  return value === null ? [] : [`${name} ${value}`];
}

/** The leaves of the key with their paths; null if not set or unknown. */
function flattened(value: unknown, path = ''): (readonly [name: string, value: string | null])[] {
  if (value === null) return [[path, null]];
  if (typeof value !== 'object') return [[path, typeof value === 'string' ? value : JSON.stringify(value)]];
  const inside = path === '' ? '' : `${path} `;
  return Object.entries(value).flatMap(([key, member]) => flattened(member, `${inside}${key.replaceAll('_', ' ')}`));
}

/** The key figures, each percentile with its interval. */
export function tiles(result: ResultFile): Html {
  return html`<section class="tiles" aria-label="Main results">
    ${latenciesOf(result).map((measure) => latencyTile(measure, distributionOf(result.measures, measure)))}
    ${throughputTile(result)} ${errorsTile(result)}
  </section> `;
}

function latencyTile(name: ReportLatency, measure: DistributionResult | undefined): Html | null {
  if (measure === undefined) return null;
  const { percentiles, unit, n, effective_n } = measure;
  const rows = (['p50', 'p90', 'p99'] as const).map((name) => {
    const { value, ci95, bounds } = percentiles[name];
    const interval = ci95 ?? bounds;
    return html`<tr>
      <th>${name}</th>
      <td><b class="${name === 'p50' ? 'big' : ''}">${quantity(value, unit)}</b></td>
      <td>${interval === null ? tooFew(measure, name) : quantityRange(interval, unit)}</td>
    </tr>`;
  });
  const effective = effective_n === null ? '' : `, effective ${significant(Math.floor(effective_n))}`;
  return html`<div class="tile">
    <h3>${capitalized(measureTitle({ measure: name, clock: 'sent' }))}</h3>
    <table>
      ${rows}
    </table>
    <p class="apart"><span>n ${counted(n)}${effective}</span><span>95 % intervals</span></p>
  </div>`;
}

function throughputTile(result: ResultFile): Html {
  const value = (measure: string): string => {
    const found = scalarOf(result.measures, measure);
    return found === undefined ? ABSENT : quantity(found.value, found.unit);
  };
  if ((scalarOf(result.measures, 'document_throughput')?.value ?? null) !== null) {
    return html`<div class="tile">
      <h3>Throughput of ok requests</h3>
      <p class="big">${value('document_throughput')}</p>
      <p>input <b>${value('input_token_throughput')}</b></p>
      <p><b>${value('request_throughput')}</b></p>
    </div>`;
  }
  return html`<div class="tile">
    <h3>Throughput of ok requests</h3>
    <p class="big">${value('output_token_throughput')}</p>
    <p>output, at full load <b>${value('steady_output_token_throughput')}</b></p>
    <p>input and output <b>${value('total_token_throughput')}</b></p>
    <p><b>${value('request_throughput')}</b></p>
  </div>`;
}

function errorsTile(result: ResultFile): Html {
  const { ok, error, timeout, cancelled } = result.requests;
  const failed = countOf(result.requests, FAILED_OUTCOMES);
  const ratio = scalarOf(result.measures, 'error_ratio')?.value ?? null;
  return html`<div class="tile">
    <h3>Errors</h3>
    <p class="big ${failed === null ? '' : failed === 0 ? 'good' : 'bad'}">
      ${failed === 0 ? '0' : quantity(ratio, 'ratio')}
    </p>
    <p><b>${counted(ok)}</b> requests ok</p>
    <p><b>${counted(error)}</b> error, <b>${counted(timeout)}</b> timeout</p>
    <p><b>${counted(cancelled)}</b> cancelled by the client</p>
  </div>`;
}
