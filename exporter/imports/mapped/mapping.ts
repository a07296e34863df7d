import type { Clock } from '../../../core/run/statistic.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';

/** What of a request a column can report, and what its values are. */
export const MAPPED_FIELDS = {
  sent: 'time',
  due: 'time',
  end: 'time',
  time_to_first_token: 'time',
  request_latency: 'time',
  input_tokens: 'count',
  output_tokens: 'count',
  reasoning_tokens: 'count',
  cached_tokens: 'count',
  requested_output_tokens: 'count',
  http_status: 'count',
  error: 'text',
  phase: 'text',
} as const;
export type MappedField = keyof typeof MAPPED_FIELDS;

/** A column, or a key, of a file with one row per request. */
export interface MappedColumn {
  readonly column: string;
  readonly field: MappedField;
  /** Nanoseconds per unit of a time; 1 for what is no time. `iso`: the column has dates and times. */
  readonly scale: number | 'iso';
}

export const STATISTICS = ['value', 'mean', 'std', 'min', 'max'] as const;
export type MappedStatistic = (typeof STATISTICS)[number] | PercentileName;

/** A column of a file with one row per run: one figure of a measure. */
export interface MappedMeasure {
  readonly column: string;
  readonly measure: string;
  readonly definition: string;
  readonly clock: Clock;
  /** `value` for a measure that is one number for the run. */
  readonly statistic: MappedStatistic;
  /** What makes base units of it. */
  readonly scale: number;
}

/** A mapping file, checked. */
export interface ColumnMapping {
  readonly rows: 'requests' | 'runs';
  readonly tool: string;
  readonly scenario: string | null;
  readonly model: string | null;
  readonly endpoint_type: string | null;
  readonly concurrency: number | null;
  readonly streaming: boolean | null;
  /** Who counted the tokens. */
  readonly tokens: 'usage' | 'tokenizer';
  /** Whether `sent` counts from 1970 or from some start of the file's own. */
  readonly times: 'unix' | 'relative';
  /** Columns that hold nothing to import. */
  readonly ignore: readonly string[];
  readonly columns: readonly MappedColumn[];
  readonly measures: readonly MappedMeasure[];
  /** With one row per run: the column that counts the ok requests. */
  readonly requests: string | null;
  /** With one row per run: the column that has its start as a date and time. */
  readonly start: string | null;
}
