import type { Direction } from '../../core/measures/measures.ts';
import type { Clock, Unit } from '../../core/run/statistic.ts';
import type { OrderedRun } from '../../core/run/run-order.ts';
import type { PercentileName } from '../../core/stats/percentiles.ts';

/** What the judge has to know of a run: plain data, from a stored run, an import or a simulation. */
export interface RunFigures extends OrderedRun {
  readonly scenario: string;
  /** Empty when it is not known: then it matches nothing. */
  readonly fingerprint: string;
  /** What the fingerprint is of, to report what differs; null or absent when it is not known. */
  readonly configuration?: object | null;
  /** The options of the dataset, of which the configuration has a hash only; null or absent when they are not known. */
  readonly dataset?: object | null;
  /** The words of a command that measures the same again, see `RunFile`; null or absent when it is not known. */
  readonly command_line?: readonly string[] | null;
  /** Number of machines whose part is not in the run; absent: none. */
  readonly missing_shards?: number;
  readonly load: AchievedLoad;
  readonly client: 'ok' | 'saturated' | 'unknown';
  /** Whether others used the measured servers during the run; null when nothing reports it. */
  readonly foreign_traffic: boolean | null;
  readonly figures: readonly Figure[];
}

/** The load as it was achieved, not as it was configured; null where it is not known. */
export interface AchievedLoad {
  /** Mean per request. */
  readonly input_tokens: number | null;
  /** Mean per request. */
  readonly output_tokens: number | null;
  /** Cached ÷ all input tokens, 0 to 1. */
  readonly cached_input_ratio: number | null;
  /** Requests per second that were offered; null for closed loops, where the rate is a result. */
  readonly request_rate: number | null;
}

export type Stat = 'mean' | PercentileName | 'value';

/** Which statistic of which measure; two figures are compared only when all of it is equal. */
export interface FigureKey {
  /** A name of `core/measures`, or of a server's family. */
  readonly measure: string;
  /** `value` for a measure that is one number. */
  readonly stat: Stat;
  readonly unit: Unit;
  readonly definition: string;
  readonly origin: 'client' | 'server';
  /** ok requests, or all with the failed ones counted as infinitely slow. */
  readonly population: 'ok' | 'all';
  readonly clock: Clock;
  /** Which way is better; figures without a direction describe the load and are not judged. */
  readonly direction: Direction;
}

/** One statistic of one measure of one run. */
export interface Figure extends FigureKey {
  /** In the unit; [low, high] when buckets leave it open; Infinity is possible in population `all`. Null when it is not available. */
  readonly value: number | readonly [low: number, high: number] | null;
  /** 95 % interval within the run, in the unit; null when it is not available. No verdict rests on it. */
  readonly ci95: readonly [low: number, high: number] | null;
  /** Values that it is of; null for a scalar, or when it is not known. */
  readonly n: number | null;
  /** The same as independent values; null when it is not known. */
  readonly effective_n: number | null;
}
