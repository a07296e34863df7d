import type { MetricType } from '../exposition.ts';

/** A family to be written. It may be one that was parsed from the same format. */
export interface FamilyInput {
  /** For a counter with or without `_total`, for an info with or without `_info`: each format writes its own form. */
  readonly name: string;
  readonly type: MetricType;
  readonly help?: string | null;
  /** OpenMetrics only; must be the end of the name (`seconds` of `x_seconds`). */
  readonly unit?: string | null;
  readonly samples: readonly SampleInput[];
}

export interface SampleInput {
  /** Behind the family's name: `_bucket`, `_sum`, `_count`, `_total`, `_created`, …; default none. */
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
  readonly timestampSeconds?: number | null;
  /** OpenMetrics only; the text format has no place for it and leaves it out. */
  readonly exemplar?: ExemplarInput | null;
}

export interface ExemplarInput {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly timestampSeconds?: number | null;
}

export interface WriteOptions {
  /** Writes names beyond `[a-zA-Z_:][a-zA-Z0-9_:]*` quoted (the reader must have agreed to it). Default: they are refused. */
  readonly utf8Names?: boolean;
}

/** A family that cannot be written as a valid page; the message says which and why. */
export class ExpositionWriteError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ExpositionWriteError';
  }
}
