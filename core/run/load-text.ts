import type { LoadKey } from './run.ts';
import { stageText } from './stage-text.ts';

type TextOf = 'stages' | 'mode' | 'concurrency' | 'prefill_concurrency' | 'request_rate' | 'arrival_pattern';

/** The load in a few words: `concurrency 8`, `2.5 requests/s (poisson), concurrency up to 64`, `at the times of the trace`. */
export function loadText({ prefill_concurrency, ...load }: Pick<LoadKey, TextOf>): string {
  const prefill = prefill_concurrency === null ? '' : `, prefill concurrency up to ${count(prefill_concurrency)}`;
  return `${mannerText(load)}${prefill}`;
}

function mannerText(load: Omit<Pick<LoadKey, TextOf>, 'prefill_concurrency'>): string {
  const { mode, concurrency, request_rate, arrival_pattern, stages = [] } = load;
  if (mode === 'stages') return `stages ${stages.map(stageText).join(', ')}`;
  if (mode === 'concurrency') {
    return concurrency === null ? 'unknown concurrency' : `concurrency ${count(concurrency)}`;
  }
  const rate = request_rate === null ? 'unknown request rate' : `${request_rate} requests/s`;
  const pattern = arrival_pattern === null ? '' : ` (${arrival_pattern})`;
  const manner = mode === 'trace' ? 'at the times of the trace' : `${rate}${pattern}`;
  return concurrency === null ? manner : `${manner}, concurrency up to ${count(concurrency)}`;
}

/** The load for a column of a table: `c8`, `2.5/s c64`, `trace`; null if it is not known. */
export function shortLoadText(load: {
  readonly mode: string | null;
  readonly concurrency: number | null;
  readonly request_rate: number | null;
}): string | null {
  const { mode, concurrency, request_rate } = load;
  const limit = concurrency === null ? null : `c${concurrency}`;
  const rate = request_rate === null ? null : `${request_rate}/s`;
  const isTrace = mode === 'trace' || (rate === null && limit === null);
  const parts = [isTrace ? (mode?.replaceAll('_', ' ') ?? null) : null, rate, limit].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(' ');
}

const count = (n: number): string => n.toLocaleString('en-US');
