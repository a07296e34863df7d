import type { RunFile } from './run.ts';

/** What the place of a run among others depends on; absent: it was not imported. */
export interface OrderedRun {
  readonly run_id: string;
  readonly start: string | null;
  /** When it was imported, RFC 3339. */
  readonly imported_at?: string | null;
  /** Its place among the runs of that import, from 0. */
  readonly import_position?: number | null;
}

/** What `oldestFirst` needs of a run.json. */
export function orderOf({ run_id, start, source }: Pick<RunFile, 'run_id' | 'start' | 'source'>): Required<OrderedRun> {
  return { run_id, start, imported_at: source?.imported_at ?? null, import_position: source?.position ?? null };
}

/**
 * The order of runs, which is the same everywhere: by start; an import without a start counts from when it was imported, in
 * the order of its files and of its place in the file. Runs of which neither is known come before all others.
 */
export function oldestFirst(a: OrderedRun, b: OrderedRun): number {
  return (
    compare(a.start ?? a.imported_at ?? '', b.start ?? b.imported_at ?? '') ||
    compare(a.imported_at ?? '', b.imported_at ?? '') ||
    compare(a.import_position ?? -1, b.import_position ?? -1) ||
    compare(a.run_id, b.run_id)
  );
}

/** Whether it is known which other runs come before it. */
export function isOrdered({ start, imported_at }: Pick<OrderedRun, 'start' | 'imported_at'>): boolean {
  return (start ?? imported_at ?? null) !== null;
}

function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
