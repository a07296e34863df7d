import type { RunFile } from '../../../core/run/run.ts';

/** The moment from which the seconds inside a run count. */
export interface RunZero {
  /** Its wall time; null when the run has no time of its own. */
  readonly start: string | null;
  /** When the measure phase begins; null when that is not known. */
  readonly measure_seconds: number | null;
}

export function runZero({ start, phases }: Pick<RunFile, 'start' | 'phases'>): RunZero {
  const measure = phases.find(({ phase }) => phase === 'measure')?.start ?? null;
  const known = start !== null && measure !== null;
  return { start, measure_seconds: known ? (Date.parse(measure) - Date.parse(start)) / 1000 : null };
}
