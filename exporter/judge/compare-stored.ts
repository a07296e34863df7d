import type { RunStore } from '../store/run-store.ts';
import { compare } from './compare.ts';
import { readFigures, type LoadFigures } from './load-figures.ts';
import { rulesFor, type RuleChoices } from './rule-choices.ts';
import type { NextContext } from './next-command.ts';
import type { RunFigures } from './run-figures.ts';
import { verdictReport, type ReportedRun, type VerdictReport } from './verdict-report.ts';

export interface ComparedSets {
  readonly a: readonly ReportedRun[];
  readonly b: readonly ReportedRun[];
  /** See `CompareOptions`. */
  readonly paired: boolean;
  readonly rules: RuleChoices;
  /** The configuration differs on purpose: that alone does not keep the runs from being compared. */
  readonly configurationMayDiffer?: boolean;
  /** See `NextContext`. */
  readonly continued?: NextContext['continued'];
  /** See `ReportContext`. */
  readonly runsDirectory: string | null;
}

type RunIdentity = Pick<ReportedRun, 'run_id'>;

interface RequestedSets {
  readonly a: readonly RunIdentity[];
  readonly b: readonly RunIdentity[];
  readonly paired: boolean;
}

/** A reason why two sets of runs cannot be compared, in one line for people; null without one. */
export function refusal({ a, b, paired }: RequestedSets): string | null {
  const both = a.find((one) => b.some(({ run_id }) => run_id === one.run_id));
  if (both !== undefined) return `${both.run_id} is in both sets`;
  if (!paired || a.length === b.length) return null;
  return `paired requires as many runs in A as in B; there are ${a.length} and ${b.length}`;
}

/** Compares two sets of stored runs that `refusal` does not refuse. Throws an `UnreadableRunError`. */
export async function compareStored(store: RunStore, load: LoadFigures, sets: ComparedSets): Promise<VerdictReport> {
  const a = await readFigures(load, idsOf(sets.a));
  const b = alike(a, await readFigures(load, idsOf(sets.b)), sets);
  const figures = [...a, ...b];
  const judgment = compare(a, b, { paired: sets.paired, rules: rulesFor(sets.rules, figures) });
  return verdictReport(store, judgment, { ...sets, figures });
}

function alike(
  a: readonly RunFigures[],
  b: readonly RunFigures[],
  { configurationMayDiffer = false }: ComparedSets,
): readonly RunFigures[] {
  const fingerprint = a[0]?.fingerprint ?? '';
  return configurationMayDiffer ? b.map((run) => ({ ...run, fingerprint })) : b;
}

const idsOf = (runs: readonly ReportedRun[]): readonly string[] => runs.map(({ run_id }) => run_id);
