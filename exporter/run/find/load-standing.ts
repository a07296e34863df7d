import type { ProbeVerdict } from '../../../core/run/capacity.ts';

export interface ProbeOutcome {
  readonly load: number;
  readonly verdict: ProbeVerdict;
  /** False: good enough to choose the next load, not to confirm one. */
  readonly isConclusive: boolean;
}

/** What all probes of one load say together. */
export interface LoadStanding {
  readonly load: number;
  readonly verdict: ProbeVerdict;
  /** More conclusive probes have this verdict than the opposite one, by two: one wrong probe cannot have decided. */
  readonly isConfirmed: boolean;
  /** As many probes hold as fail, and another one can decide. */
  readonly isContested: boolean;
  /** Undecided so far, and another probe can decide. */
  readonly canDecide: boolean;
  readonly probes: number;
}

/** Of one load; after these, a load that is not confirmed is undecided. */
const MAX_PROBES = 5;
const CONFIRMING_LEAD = 2;
/** A load that was undecided so often is not tried again. */
const MAX_UNDECIDED = 3;

/** The loads that were probed, ascending. */
export function standingsOf(outcomes: readonly ProbeOutcome[]): readonly LoadStanding[] {
  return [...Map.groupBy(outcomes, ({ load }) => load)]
    .map(([load, probes]) => standingOf(load, probes))
    .sort((a, b) => a.load - b.load);
}

/** A conclusive probe replaces the others. */
function standingOf(load: number, probes: readonly ProbeOutcome[]): LoadStanding {
  const conclusive = probes.filter(({ isConclusive }) => isConclusive);
  const counted = conclusive.length > 0 ? conclusive : probes;
  const count = (verdict: ProbeVerdict): number => counted.filter((probe) => probe.verdict === verdict).length;
  const [holds, fails, undecided] = [count('holds'), count('fails'), count('undecided')];
  const lead = Math.abs(holds - fails);
  const isConfirmed = conclusive.length > 0 && lead >= CONFIRMING_LEAD;
  const isOver = counted.length >= MAX_PROBES || undecided >= MAX_UNDECIDED;
  const isUndecided = lead === 0 || (isOver && !isConfirmed);
  return {
    load,
    verdict: isUndecided ? 'undecided' : holds > fails ? 'holds' : 'fails',
    isConfirmed,
    isContested: lead === 0 && holds > 0 && !isOver,
    canDecide: lead === 0 && !isOver,
    probes: probes.length,
  };
}
