import type { SloResult } from '../run/objectives.ts';

type Verdict = SloResult['verdict'];

export const WORST_FIRST: readonly Verdict[] = ['not_met', 'undecided', 'met'];

/** What can be said of all objectives of a run or a stage together; null when nothing was requested. */
export function worstVerdict(slos: readonly Pick<SloResult, 'verdict'>[]): Verdict | null {
  return WORST_FIRST.find((verdict) => slos.some((slo) => slo.verdict === verdict)) ?? null;
}
