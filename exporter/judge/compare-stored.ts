import { ExpectedError } from '../errors/expected-error.ts';
import type { CapacityFile } from '../../core/run/capacity.ts';
import type { RunStore } from '../store/run-store.ts';
import { compareSearches, searchesOf, type GroupedRun } from './capacity.ts';
import { compare } from './compare.ts';
import { inOrder } from './history.ts';
import { readFigures, type LoadFigures } from './load-figures.ts';
import { pairedSlices } from './slice-doubts.ts';
import { areOfServers, rulesFor, type RuleChoices } from './rules.ts';
import type { RunFigures } from './run-figures.ts';
import { RECORDED, verdictReport, type NextContext, type ReportedRun } from './verdict-report.ts';
import type { AcceptedDifference } from './preflight.ts';
import type { VerdictReport } from '../../core/api/comparison.ts';

export type ComparedRun = ReportedRun & GroupedRun;

interface ComparedSets {
  readonly a: readonly ComparedRun[];
  readonly b: readonly ComparedRun[];
  /** See `CompareOptions`. */
  readonly paired: boolean;
  readonly rules: RuleChoices;
  /** What differs on purpose; default: nothing. */
  readonly accepted?: AcceptedDifference | undefined;
  /** See `NextContext`. */
  readonly continued?: NextContext['continued'];
  /** See `ReportContext`. */
  readonly runsDirectory: string | null;
}

type RunIdentity = Pick<ReportedRun, 'run_id'> & Partial<Pick<ReportedRun, 'tool'>>;

interface RequestedSets {
  readonly a: readonly RunIdentity[];
  readonly b: readonly RunIdentity[];
  readonly paired: boolean;
}

/** A reason why two sets of runs cannot be compared, in one line for people; null without one. */
export function refusal({ a, b, paired }: RequestedSets): string | null {
  const both = a.find((one) => b.some(({ run_id }) => run_id === one.run_id));
  if (both !== undefined) return `${both.run_id} is in both sets`;
  // Of slices A may have other days besides.
  if (!paired || a.length === b.length || (a.length > b.length && a.every(({ tool }) => tool === RECORDED)))
    return null;
  return `paired requires as many runs in A as in B; there are ${a.length} and ${b.length}`;
}

/**
 * Compares two sets of stored runs that `refusal` does not refuse; of probes of searches (`run --find`), the capacities that
 * were found. Throws an `ExpectedError`: 'damaged', or 'refused' if only some runs are probes.
 */
export async function compareStored(store: RunStore, load: LoadFigures, sets: ComparedSets): Promise<VerdictReport> {
  const searches = { a: await searchesOf(store, sets.a, 'A'), b: await searchesOf(store, sets.b, 'B') };
  if (searches.a !== null || searches.b !== null) {
    const side = (name: 'a' | 'b'): { searches: readonly CapacityFile[]; runIds: readonly string[] } => {
      const found = searches[name];
      if (found === null) throw new ExpectedError('refused', ONE_SIDE);
      return { searches: found, runIds: idsOf(sets[name]) };
    };
    const unfit = unfitForSearches(sets);
    if (unfit !== null) throw new ExpectedError('refused', unfit);
    return compareSearches(load, { a: side('a'), b: side('b'), rules: sets.rules, accepted: sets.accepted });
  }
  const a = await readFigures(load, idsOf(sets.a));
  const b = await readFigures(load, idsOf(sets.b));
  const figures = [...a, ...b];
  const rules = rulesFor(sets.rules, figures);
  // Windows of the same times share their load, which makes pairs of them.
  const paired = sets.paired || shareTimes(a, b);
  const slices = paired ? pairedSlices(inOrder(a), inOrder(b)) : null;
  if (typeof slices === 'string') throw new ExpectedError('refused', sets.paired ? slices : UNPAIRED);
  const { accepted } = sets;
  const judgment = compare(slices?.a ?? a, slices?.b ?? b, { paired, accepted, rules, days: slices?.days ?? [] });
  return verdictReport(store, judgment, { ...sets, figures });
}

const UNPAIRED = 'A and B have slices of the same times, which share their load: select the same times in both';

/** Whether two sets of recorded windows have some of the same time. */
function shareTimes(a: readonly RunFigures[], b: readonly RunFigures[]): boolean {
  const times = new Set(a.map(({ start }) => start));
  return areOfServers([...a, ...b]) && b.some(({ start }) => start !== null && times.has(start));
}

const ONE_SIDE =
  'one side has probes of a search (--find), the other has none: select probes of searches for both, or for none';

/** A reason against the options of a comparison of capacities; null without one. */
function unfitForSearches({ paired, rules }: ComparedSets): string | null {
  if (paired) return 'paired compares runs; the runs of a search (--find) are not made in pairs';
  return rules.primary === null
    ? null
    : 'gate names measures of runs; of searches (--find) the capacity alone is compared';
}

const idsOf = (runs: readonly ReportedRun[]): readonly string[] => runs.map(({ run_id }) => run_id);
