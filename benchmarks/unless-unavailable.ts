import type { BenchContext } from './bench.ts';
import { Unavailable } from './workshop.ts';

/** The result of a part of a bench; null, with a remark, if this machine lacks what the part needs. */
export async function unlessUnavailable<T>(context: BenchContext, what: string, part: Promise<T>): Promise<T | null> {
  try {
    return await part;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    context.skipped(what, error.message);
    return null;
  }
}
