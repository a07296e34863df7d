/** How requests were sent. An unknown number is null. */
export interface Load {
  readonly mode: 'concurrency' | 'request_rate' | 'trace' | 'stages';
  /** Requests kept in flight, or their upper limit; null without a limit. */
  readonly concurrency: number | null;
  readonly concurrency_ramp_seconds: number | null;
  /** Most requests without their first chunk of content; null without a limit. */
  readonly prefill_concurrency: number | null;
  readonly prefill_concurrency_ramp_seconds: number | null;
  /** Requests per second. */
  readonly request_rate: number | null;
  readonly request_rate_ramp_seconds: number | null;
  readonly arrival_pattern: string | null;
  /** Shape of the gamma distribution of the gaps; null for other patterns. */
  readonly arrival_smoothness: number | null;
  /** In their order; absent in other modes than `stages`. */
  readonly stages?: readonly LoadStage[];
}

/** A stage of a load: it has a concurrency, or a request rate that changes linearly from its start to its end. */
export interface LoadStage {
  readonly duration_seconds: number;
  readonly concurrency: number | null;
  /** Requests per second. */
  readonly request_rate: { readonly start: number; readonly end: number } | null;
}

/** Series and tables hold one entry per stage. */
export const MAX_STAGES = 50;

/** A load that is one number, as the steps of a sweep differ in: requests in flight, or requests per second. */
export interface LoadNumber {
  readonly mode: 'concurrency' | 'request_rate';
  readonly value: number;
}

/** The load of a plain closed loop; null: the concurrency is not known. */
export function closedLoop(concurrency: number | null): Load {
  return {
    mode: 'concurrency',
    concurrency,
    concurrency_ramp_seconds: null,
    prefill_concurrency: null,
    prefill_concurrency_ramp_seconds: null,
    request_rate: null,
    request_rate_ramp_seconds: null,
    arrival_pattern: null,
    arrival_smoothness: null,
  };
}

/** Null for a load that is not described by one number: a trace, stages, or a number that is not known. */
export function loadNumber(load: Load | null): LoadNumber | null {
  if (load === null || load.mode === 'trace' || load.mode === 'stages') return null;
  const value = load.mode === 'concurrency' ? load.concurrency : load.request_rate;
  return value === null ? null : { mode: load.mode, value };
}

/** What texts name of a load; of runs in a list not all of it is at hand. */
type Named = Pick<Load, 'concurrency' | 'request_rate'> &
  Partial<Pick<Load, 'stages' | 'prefill_concurrency' | 'arrival_pattern'>> & { readonly mode: string | null };

const STYLES = {
  /** `concurrency 8`, `2.5 requests/s (poisson), concurrency up to 64`, `at the times of the trace`. */
  sentence: sentenceText,
  /** For a column of a table: `c8`, `2.5/s c64`, `trace`; empty if the load is not known. */
  column: columnText,
  /** The label `load` of metrics: `concurrency 64`, `request_rate 2.5 poisson`, `stages rate=5:60s,rate=10:60s`. */
  label: labelText,
} as const;

/** The load in a few words. */
export function loadText(load: Named, style: keyof typeof STYLES = 'sentence'): string {
  return STYLES[style](load);
}

function sentenceText(load: Named): string {
  const { mode, concurrency, request_rate, prefill_concurrency = null, arrival_pattern = null, stages = [] } = load;
  const prefill = prefill_concurrency === null ? '' : `, prefill concurrency up to ${count(prefill_concurrency)}`;
  if (mode === 'stages') return `stages ${stages.map(stageText).join(', ')}${prefill}`;
  if (mode === 'concurrency') {
    return `${concurrency === null ? 'unknown concurrency' : `concurrency ${count(concurrency)}`}${prefill}`;
  }
  const rate = request_rate === null ? 'unknown request rate' : `${request_rate} requests/s`;
  const pattern = arrival_pattern === null ? '' : ` (${arrival_pattern})`;
  const manner = mode === 'trace' ? 'at the times of the trace' : `${rate}${pattern}`;
  return `${manner}${concurrency === null ? '' : `, concurrency up to ${count(concurrency)}`}${prefill}`;
}

function columnText({ mode, concurrency, request_rate }: Named): string {
  const limit = concurrency === null ? null : `c${concurrency}`;
  const rate = request_rate === null ? null : `${request_rate}/s`;
  const isTrace = mode === 'trace' || (rate === null && limit === null);
  return [isTrace ? mode?.replaceAll('_', ' ') : null, rate, limit].filter((part) => part != null).join(' ');
}

function labelText({ mode, concurrency, request_rate, arrival_pattern, stages = [] }: Named): string {
  const amounts = new Map<string | null, number | string | null>([
    ['concurrency', concurrency],
    ['request_rate', request_rate],
    ['stages', stages.map(stageText).join(',')],
  ]);
  return [mode, amounts.get(mode), arrival_pattern].filter((part) => part != null).join(' ');
}

/** The load of a label that is one number, and the arrival pattern of a request rate; null for any other load. */
export function loadOfLabel(label: string): { load: LoadNumber; arrivalPattern: string | null } | null {
  const [, mode, number = '', arrivalPattern = null] =
    /^(concurrency|request_rate) ([\d.e+-]+)(?: (\S+))?$/.exec(label) ?? [];
  const value = Number(number);
  if ((mode !== 'concurrency' && mode !== 'request_rate') || number === '' || !Number.isFinite(value)) return null;
  return { load: { mode, value }, arrivalPattern };
}

/** A stage as `--stages` reads it: `rate=5:60s`, `rate=5..20:60s`, `concurrency=64:120s`. */
export function stageText({ duration_seconds, ...load }: LoadStage): string {
  return `${stageLoadText(load)}:${duration_seconds}s`;
}

/** Its load alone: `rate=5..20`. */
export function stageLoadText({ concurrency, request_rate }: Omit<LoadStage, 'duration_seconds'>): string {
  if (request_rate === null) return `concurrency=${concurrency ?? '?'}`;
  const { start, end } = request_rate;
  return start === end ? `rate=${start}` : `rate=${start}..${end}`;
}

const count = (n: number): string => n.toLocaleString('en-US');

/** The load of servers as a Prometheus recorded it, which a run reproduces. */
export interface RecordedLoad {
  /** The address without credentials, and the selector of the series. */
  readonly prometheus: string;
  readonly selector: string;
  /** RFC 3339 in UTC. */
  readonly start: string;
  readonly end: string;
  /** The time of the plan is that of the source divided by it; the rate stays that of the source. */
  readonly compress: number;
  /** The rate of the plan is that of the source times it. */
  readonly scale: number;
  /** Of the source's time. */
  readonly slot_seconds: number;
  /** Requests of the source in each slot of the window, in order. */
  readonly requests: readonly number[];
  /** Lengths of prompts and responses; null: the servers expose no histogram of them, or with different bounds. */
  readonly input_tokens: TokenCounts;
  readonly output_tokens: TokenCounts | null;
  /** Share of the prompt tokens that a cache of the servers supplied, 0 to 1; null: they do not expose it. */
  readonly cached_input_ratio: number | null;
}

/** How many requests have lengths in the buckets of a histogram. */
export interface TokenCounts {
  /** Finite upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** In each bucket, and at last above the last bound. */
  readonly counts: readonly number[];
  readonly mean: number;
}

/** Lengths of the requests of one slot, per bucket of the source; null: those of the whole window. */
export interface SlotLengths {
  readonly input: readonly number[] | null;
  readonly output: readonly number[] | null;
}

/** A recorded load with its course, from which a plan is made. */
export interface LoadCourse {
  readonly source: RecordedLoad;
  /** By slot. */
  readonly lengths: readonly SlotLengths[];
}

/** Whether what was read is such a load. */
export function isRecordedLoad(value: unknown): value is RecordedLoad {
  if (typeof value !== 'object' || value === null) return false;
  const { compress, scale, slot_seconds, requests, input_tokens, output_tokens, cached_input_ratio } = value as Partial<
    Record<keyof RecordedLoad, unknown>
  >;
  const isAbove0 = (number: unknown): boolean => typeof number === 'number' && number > 0 && Number.isFinite(number);
  return (
    [compress, scale, slot_seconds].every(isAbove0) &&
    isCounts(requests) &&
    isTokenCounts(input_tokens) &&
    (output_tokens === null || isTokenCounts(output_tokens)) &&
    (cached_input_ratio === null || typeof cached_input_ratio === 'number')
  );
}

const isCounts = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((count) => typeof count === 'number' && count >= 0);

function isTokenCounts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { bounds, counts, mean } = value as Partial<Record<keyof TokenCounts, unknown>>;
  return isCounts(bounds) && isCounts(counts) && counts.length === bounds.length + 1 && typeof mean === 'number';
}

/** Seconds of the plan: of the window, compressed. */
export function planSeconds({ requests, slot_seconds, compress }: RecordedLoad): number {
  return (requests.length * slot_seconds) / compress;
}

/** Requests per second that the plan has on average. */
export function planRate(source: RecordedLoad): number {
  const seconds = source.requests.length * source.slot_seconds;
  return (source.scale * source.requests.reduce((sum, n) => sum + n, 0)) / seconds;
}
