import type { RunZero } from '../../../core/api/run-data.ts';
import type { RunFile } from '../../../core/run/run.ts';

export function runZero({ start, phases }: Pick<RunFile, 'start' | 'phases'>): RunZero {
  const measure = phases.find(({ phase }) => phase === 'measure')?.start ?? null;
  const known = start !== null && measure !== null;
  return { start, measure_seconds: known ? (Date.parse(measure) - Date.parse(start)) / 1000 : null };
}
