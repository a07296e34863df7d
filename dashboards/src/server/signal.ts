import type { Query } from '../target.ts';
import type { Family } from './families.ts';
import type { DisplayUnit } from './units.ts';

/** A query about a server that knows what it shows: its unit, and the families it is made of. */
export interface Signal extends Query {
  readonly display: DisplayUnit;
  readonly families: readonly Family[];
  /** The same of exactly the measure phase of the chosen runs, by instance, where `llmbench serve` publishes it. */
  readonly ofRun?: string;
  /** Of an estimate from a histogram: which percentile, and the raw buckets that it is made of. */
  readonly percentile?: { readonly quantile: number; readonly buckets: string };
}

/** What may be said about a signal; the family and the catalog say the rest. */
export interface SignalOptions {
  /** Name in the legend; else the family's own without its prefix. */
  readonly as?: string;
  /** Labels that are kept apart, besides model and instance. */
  readonly by?: readonly string[];
  /** Further matchers, such as `status="error"`. */
  readonly where?: string;
  /**
   * Of a counter that is born with its first event: a family of the same process that exists as soon as one was possible.
   * Where it has a series and the counter has none, the counter is 0.
   */
  readonly zeroWith?: string;
  /** Where a family has no unit of its own ("mixed"), or the query changes it. */
  readonly unit?: string;
}
