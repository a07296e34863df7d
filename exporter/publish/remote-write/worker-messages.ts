import type { NativeHistogram } from '../../../core/histogram/native/native-histogram.ts';
import type { SendingSummary } from './sending.ts';
import type { SeriesLayout } from './pushed-series.ts';

/** A point as it goes from thread to thread. */
export interface PointMessage {
  readonly time_ms: number;
  /** Null: the series are no more. */
  readonly values: Float64Array | readonly number[] | null;
  readonly native: readonly NativeHistogram[] | null;
}

export type ToWorker =
  | { readonly kind: 'layout'; readonly number: number; readonly layout: SeriesLayout }
  | { readonly kind: 'point'; readonly layout: number; readonly point: PointMessage }
  | { readonly kind: 'finish'; readonly seconds: number };

export type FromWorker =
  /** It is loaded, and from now on costs little. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'problem'; readonly line: string }
  | { readonly kind: 'finished'; readonly summary: SendingSummary };
