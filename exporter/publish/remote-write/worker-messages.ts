import type { SendingSummary } from './sending.ts';
import type { PointMessage, SeriesLayout } from './pushed-series.ts';

export type ToWorker =
  | { readonly kind: 'layout'; readonly number: number; readonly layout: SeriesLayout }
  | { readonly kind: 'point'; readonly layout: number; readonly point: PointMessage }
  | { readonly kind: 'finish'; readonly seconds: number };

export type FromWorker =
  /** The thread is loaded and cheap from now on. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'problem'; readonly line: string }
  /** The end of the run waits for the receiver: why, and for how many seconds at most. */
  | { readonly kind: 'delayed'; readonly reason: string; readonly seconds: number }
  | { readonly kind: 'finished'; readonly summary: SendingSummary };
