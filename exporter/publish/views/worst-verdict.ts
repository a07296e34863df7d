import type { SloResult } from '../../../core/run/gates.ts';

type Verdict = SloResult['verdict'];

const WORST_FIRST: readonly Verdict[] = ['not_met', 'undecided', 'met'];

/** What can be said of all of a run's objectives together; null when nothing was requested. */
export function worstVerdict(slos: readonly Pick<SloResult, 'verdict'>[]): Verdict | null {
  return WORST_FIRST.find((verdict) => slos.some((slo) => slo.verdict === verdict)) ?? null;
}
