import { OUTCOMES, type Outcome } from './record.ts';

/** Requests by how they ended; null: not known, as of a file of another tool that does not report it. */
export type RequestCounts = Readonly<Record<Outcome, number | null>>;

/** How many requests there were of these outcomes; null when one of the counts is not known: a sum of the others would understate. */
export function countOf(counts: RequestCounts, outcomes: readonly Outcome[]): number | null {
  return outcomes.reduce<number | null>((sum, outcome) => {
    const count = counts[outcome];
    return sum === null || count === null ? null : sum + count;
  }, 0);
}

/** How many requests a cool-down had; 0 without one. */
export function coolDownCount(counts: RequestCounts | undefined): number {
  return counts === undefined ? 0 : (countOf(counts, OUTCOMES) ?? 0);
}

/** Outcomes of requests that were given a response and failed; cancelled ones were given up by the client. */
export const FAILED_OUTCOMES = ['error', 'timeout'] as const satisfies readonly Outcome[];
