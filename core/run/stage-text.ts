import type { StageKey } from './run.ts';

/** A stage as `--stages` reads it: `rate=5:60s`, `rate=5..20:60s`, `concurrency=64:120s`. */
export function stageText({ duration_seconds, ...load }: StageKey): string {
  return `${stageLoadText(load)}:${duration_seconds}s`;
}

/** Its load alone: `rate=5..20`. */
export function stageLoadText({ concurrency, request_rate }: Omit<StageKey, 'duration_seconds'>): string {
  if (request_rate === null) return `concurrency=${concurrency ?? '?'}`;
  const { start, end } = request_rate;
  return start === end ? `rate=${start}` : `rate=${start}..${end}`;
}
