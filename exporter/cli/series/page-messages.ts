import type { RunFamily, ServedPageOptions } from '../../publish/served-page.ts';

/** What the page needs to know of a run; `say` is the parent's own. */
export type HandedRun = Omit<ServedPageOptions, 'say'>;

/** What a run in a child process says to the process that serves its live metrics. */
export type MessageOfRun =
  | { readonly kind: 'serve'; readonly run: HandedRun; readonly webConfigFile: string | null }
  /** Before the load, which waits for the response. */
  | { readonly kind: 'await_scrapes'; readonly times: number; readonly limit_seconds: number }
  /** Before the first request. */
  | { readonly kind: 'begin' }
  /** The response to the request of that number: the values of now. */
  | { readonly kind: 'families'; readonly request: number; readonly families: readonly RunFamily[] }
  /** After the last request, with the final values. */
  | { readonly kind: 'ended'; readonly families: readonly RunFamily[] }
  /** The run is about to be published. */
  | { readonly kind: 'finish' }
  /** The run is published. `hurried`: the user ended it early. */
  | { readonly kind: 'depart'; readonly hurried: boolean };

/** What the process that serves the live metrics answers or asks. */
export type MessageOfSeries =
  | { readonly kind: 'served'; readonly metricsUrl: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'families'; readonly request: number }
  /** The response to `await_scrapes`. */
  | { readonly kind: 'scraped'; readonly scraped: boolean }
  /** The response to `finish`, with lines for the user. */
  | { readonly kind: 'finished'; readonly lines: readonly string[] };

/** Set for a child process to the process id of the parent that serves its live metrics. */
export const SERIES_VARIABLE = 'LLMBENCH_SERIES_PID';

/** Buffers come as they are, not as JSON. */
export const SERIALIZATION = 'advanced';
