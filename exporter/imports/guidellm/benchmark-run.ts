import type { Fields } from '../reading/fields.ts';
import type { ImportedRun, KnownKey } from '../importer.ts';
import type { ImportNotes } from '../import-notes.ts';
import { publicOriginOrNull } from '../reading/public-origin.ts';
import { wallInstant } from '../reading/wall-time.ts';
import { checkReport } from './check.ts';
import { guideRecords } from './records.ts';
import type { RecordContext } from './records.ts';
import type { GuideRequests } from './requests.ts';
import { meanAlone, statedDistributions, statedGood, statedRates, statedTimePerOutputToken } from './stated.ts';
import { closedLoopKey } from '../../../core/run/load-key.ts';
import type { LoadKey } from '../../../core/run/run.ts';

/** What holds for all benchmarks of a report. */
export interface ReportFacts {
  readonly version: string | null;
  readonly schema_version: string | null;
  /** How many benchmarks it has. */
  readonly benchmarks: number;
}

/** A benchmark of a report as a run; `index` is its place in the report. */
export function benchmarkRun(
  benchmark: Fields,
  requests: GuideRequests,
  index: number,
  report: ReportFacts,
  notes: ImportNotes,
): ImportedRun {
  const config = benchmark.object('config');
  // Up to 0.3 the configuration was in `args`, and the result in `run_stats` and `worker`.
  const args = config ?? benchmark.object('args');
  const isFlat = config === null;
  const strategy = args?.object('strategy') ?? null;
  const metrics = benchmark.object('metrics');
  const window = windowOf(benchmark);
  requests.noteLeftOut(notes);
  const totals = metrics?.object('request_totals') ?? benchmark.object('request_totals');
  const ok = totals?.count('successful') ?? null;
  const overview = overviewOf(requests, window);
  const isWhole = requests.size > 0 && ok === overview.ok;
  if (metrics !== null && isWhole) checkReport(metrics, requests, window, notes);
  const zero_s = requests.size > 0 ? overview.earliest_s : (window?.start_s ?? null);
  const context: RecordContext | null =
    zero_s === null ? null : { zero_s, window, hasSchedule: hasSchedule(strategy), tokenSource: tokenSourceOf(config) };
  const several = report.benchmarks > 1;
  const backend = backendOf(benchmark, config, requests.kind);
  notePeculiarities(requests.size, overview, notes);
  return {
    part: several ? String(index) : null,
    tool: { name: 'guidellm', version: report.version },
    format: { name: 'guidellm-report', schema_version: report.schema_version },
    scenario: null,
    target: { origin: backend.origin, system: null, system_version: null },
    key: keyOf(args, strategy, backend, overview),
    ...(several && {
      placement: { group_id: args?.text('run_id') ?? benchmark.text('run_id'), step: index, repeat: null },
    }),
    status: 'completed',
    failure: null,
    start: zero_s === null ? null : wallInstant(zero_s * 1000),
    records: requests.size === 0 || context === null ? null : guideRecords(requests, context, notes),
    stated: {
      window_seconds: window === null ? null : window.end_s - window.start_s,
      window_start_ns: window === null || zero_s === null ? null : Math.round((window.start_s - zero_s) * 1e9),
      requests: {
        ok,
        error: totals?.count('errored') ?? null,
        timeout: null,
        cancelled: totals?.count('incomplete') ?? null,
      },
      errors: {},
      measures:
        metrics === null
          ? []
          : [
              // Beside records of the whole run they are what the notes name: their percentiles are taken in another way.
              ...statedDistributions(metrics, isFlat).map((each) => (isWhole ? meanAlone(each) : each)),
              ...statedTimePerOutputToken(metrics, isFlat),
              ...statedRates(metrics, isFlat),
              ...statedGood(metrics, args?.object('slo') ?? null),
            ],
    },
    servers: null,
    notes,
  };
}

/** What the requests of a benchmark have in common, from one pass. */
interface RequestsOverview {
  /** Ok requests in the window. */
  readonly ok: number;
  readonly earliest_s: number;
  readonly hasFirstTokens: boolean;
  readonly hasIncomplete: boolean;
}

function overviewOf(requests: GuideRequests, window: RecordContext['window']): RequestsOverview {
  let [ok, earliest_s, hasFirstTokens, hasIncomplete] = [0, Infinity, false, false];
  for (const { status, sent_s, end_s, first_s } of requests) {
    const isIn = window === null || (end_s >= window.start_s && sent_s <= window.end_s);
    if (status === 'successful' && isIn) ok += 1;
    if (status === 'incomplete') hasIncomplete = true;
    if (first_s !== null) hasFirstTokens = true;
    earliest_s = Math.min(earliest_s, sent_s);
  }
  return { ok, earliest_s, hasFirstTokens, hasIncomplete };
}

function windowOf(benchmark: Fields): RecordContext['window'] {
  const scheduler = benchmark.object('scheduler_metrics');
  const start_s = scheduler?.amount('measure_start_time') ?? benchmark.amount('start_time');
  const end_s = scheduler?.amount('measure_end_time') ?? benchmark.amount('end_time');
  return start_s === null || end_s === null || end_s < start_s ? null : { start_s, end_s };
}

/**
 * Where the tool prefers what the server reports, and keeps the count only when it reported one, that count is the
 * server's.
 */
function tokenSourceOf(config: Fields | null): RecordContext['tokenSource'] {
  return config?.boolean('prefer_response_metrics') === true ? 'usage' : null;
}

interface BackendFacts {
  readonly origin: string | null;
  readonly model: string | null;
  readonly endpoint_type: string | null;
  readonly streaming: boolean | null;
}

const ENDPOINTS: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completions',
  '/v1/responses': 'responses',
  '/v1/embeddings': 'embeddings',
  chat_completions: 'chat',
  text_completions: 'completions',
};

/** `kind`: the kind of request that the requests report. */
function backendOf(benchmark: Fields, config: Fields | null, kind: string | null): BackendFacts {
  const backend = config?.object('backend') ?? null;
  const worker = benchmark.object('worker');
  const target = backend?.text('target') ?? worker?.text('backend_target') ?? null;
  const format = backend?.text('request_format') ?? kind;
  return {
    origin: target !== null && isAddress(target) ? publicOriginOrNull(target) : null,
    model: backend?.text('model') ?? worker?.text('backend_model') ?? null,
    endpoint_type: format !== null && Object.hasOwn(ENDPOINTS, format) ? (ENDPOINTS[format] ?? null) : null,
    streaming: backend?.boolean('stream') ?? null,
  };
}

function isAddress(target: string): boolean {
  return URL.canParse(target) || URL.canParse(`http://${target}`);
}

function keyOf(
  args: Fields | null,
  strategy: Fields | null,
  backend: BackendFacts,
  { hasFirstTokens }: RequestsOverview,
): KnownKey {
  const load = loadOf(strategy);
  const streaming = backend.streaming ?? (hasFirstTokens || null);
  return {
    ...(backend.endpoint_type !== null && { endpoint_type: backend.endpoint_type }),
    ...(backend.model !== null && { model: backend.model }),
    ...(load !== undefined && { load }),
    ...(streaming !== null && { streaming }),
    stop: { request_count: requestLimit(args), benchmark_duration_seconds: durationLimit(args) },
  };
}

function requestLimit(args: Fields | null): number | null {
  const limits = args?.object('constraints')?.object('max_requests');
  return limitOf(limits, ['count', 'max_num', 'max_requests']) ?? args?.count('max_number') ?? null;
}

function durationLimit(args: Fields | null): number | null {
  const limits = args?.object('constraints');
  const limit = limits?.object('max_duration') ?? limits?.object('max_seconds') ?? null;
  return limitOf(limit, ['seconds', 'duration', 'max_duration', 'max_seconds']) ?? args?.amount('max_duration') ?? null;
}

/** A limit is in `args` or next to it; of a list of limits the current one counts. */
function limitOf(limit: Fields | null | undefined, names: readonly string[]): number | null {
  if (limit == null) return null;
  const index = limit.count('current_index') ?? 0;
  for (const members of [limit.object('args'), limit]) {
    for (const name of names) {
      const value = members?.raw(name);
      const found: unknown = Array.isArray(value) ? value[index] : value;
      if (typeof found === 'number' && Number.isFinite(found) && found > 0) return found;
    }
  }
  return null;
}

function notePeculiarities(requests: number, { hasIncomplete }: RequestsOverview, notes: ImportNotes): void {
  if (requests > 0)
    notes.add(
      'times are from the wall clock, with a resolution of a quarter of a microsecond; clock adjustments affect them',
    );
  if (hasIncomplete) {
    notes.add('requests that were incomplete when the benchmark ended count as canceled');
  }
}

/** The strategies that send a request at a scheduled time; the others send it as soon as possible. */
const SCHEDULED: ReadonlySet<string> = new Set(['constant', 'poisson', 'async', 'replay', 'trace']);

function hasSchedule(strategy: Fields | null): boolean {
  return SCHEDULED.has(strategy?.text('type_') ?? '');
}

/** The load of a strategy; undefined for one that is not known. */
function loadOf(strategy: Fields | null): LoadKey | undefined {
  const limit = strategy?.count('max_concurrency') ?? null;
  const request_rate = strategy?.amount('rate') ?? null;
  const ramp = strategy?.amount('rampup_duration') ?? null;
  const concurrency_ramp_seconds = ramp === 0 ? null : ramp;
  switch (strategy?.text('type_')) {
    case 'synchronous':
      return closedLoopKey(1);
    case 'concurrent':
      return { ...closedLoopKey(strategy.count('streams') ?? limit), concurrency_ramp_seconds };
    case 'throughput':
      return { ...closedLoopKey(limit), concurrency_ramp_seconds };
    case 'constant':
    case 'async':
      return { ...closedLoopKey(limit), mode: 'request_rate', request_rate, arrival_pattern: 'constant' };
    case 'poisson':
      return { ...closedLoopKey(limit), mode: 'request_rate', request_rate, arrival_pattern: 'poisson' };
    case 'replay':
    case 'trace':
      return { ...closedLoopKey(limit), mode: 'trace' };
    default:
      return undefined;
  }
}
