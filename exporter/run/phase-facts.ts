import { things } from '../../core/text/things.ts';
import type { PhaseWindow } from '../../core/run/run.ts';
import { instantAt } from '../../core/run/instant.ts';
import type { PhaseResult } from '../load/phases/phase-result.ts';

/** The edges of phases as wall time; `start` is that of the run. */
export function phaseWindows(phases: readonly PhaseResult[], start: string | null): PhaseWindow[] {
  return phases.map(({ phase, start_ns, end_ns }) => ({
    phase,
    start: start_ns === null ? null : instantAt(start, start_ns),
    end: end_ns === null ? null : instantAt(start, end_ns),
  }));
}

/** Duration of the measure phase; null when it was not reached. */
export function measureSeconds(phases: readonly PhaseResult[]): number | null {
  const measure = phases.find(({ phase }) => phase === 'measure');
  if (measure === undefined || measure.start_ns === null || measure.end_ns === null) return null;
  return (measure.end_ns - measure.start_ns) / 1e9;
}

/** A run that ended because its budget was used up completed as requested, with fewer requests than planned. */
export function budgetNotes(phases: readonly PhaseResult[]): string[] {
  return phases.flatMap(({ phase, overBudget }) => (overBudget === null ? [] : [`${phase}: ${overBudget}`]));
}

/** Requests that a limit prevented from being sent are in no statistic and are reported separately. */
export function unsentNotes(phases: readonly PhaseResult[]): string[] {
  return phases.flatMap(({ phase, unsent }) =>
    unsent > 0
      ? [`${phase}: ${things(unsent, 'requests')} were due but not sent: no slot was free before the end`]
      : [],
  );
}
