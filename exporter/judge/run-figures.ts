import type { FigureKey, FigureValue } from '../../core/api/verdict.ts';
import type { OrderedRun } from '../../core/run/run-id.ts';

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
  /** Whether it kept up with its plan; `none`: the run is a window of what servers recorded. */
  readonly client: 'ok' | 'saturated' | 'unknown' | 'none';
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
  /** Requests per second that each server had, of a run without a client; null for others, where the rate is planned or a result. */
  readonly request_rate: number | null;
}

/** One statistic of one measure of one run. */
export interface Figure extends FigureKey {
  readonly value: FigureValue;
  /** 95 % interval within the run, in the unit; null when it is not available. No verdict rests on it. */
  readonly ci95: readonly [low: number, high: number] | null;
  /** Values that it is of; null for a scalar, or when it is not known. */
  readonly n: number | null;
  /** The same as independent values; null when it is not known. */
  readonly effective_n: number | null;
  /** It mixes requests that have figures of their own, and is judged only where it gates; absent: it does not. */
  readonly isMixed?: true;
}
