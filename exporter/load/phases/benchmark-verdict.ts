import type { BenchmarkPlan } from '../benchmark-plan.ts';
import type { PhaseResult } from './phase-result.ts';
import type { RunControls } from './run-controls.ts';

/** How a benchmark ended, and the reason in one line unless it completed. */
export interface BenchmarkVerdict {
  /** aborted: the user ended it early; failed: no request succeeded, too many failed, or too many in a row. */
  readonly status: 'completed' | 'aborted' | 'failed';
  readonly failure: string | null;
}

/** Whether no further phase follows this one. */
export const endsTheRun = (phase: PhaseResult): boolean =>
  phase.broken !== null || phase.tooManyErrors !== null || phase.overBudget !== null;

/** The verdict on a benchmark from the phases that began. Using up a configured budget is a planned end. */
export function benchmarkVerdict(
  { failedRequestThreshold }: Pick<BenchmarkPlan, 'failedRequestThreshold'>,
  phases: readonly PhaseResult[],
  { aborting, interrupted }: Pick<RunControls, 'aborting' | 'interrupted'>,
): BenchmarkVerdict {
  const broken = phases.find((phase) => phase.broken !== null)?.broken;
  if (broken != null) return { status: 'failed', failure: broken };
  const tooMany = phases.find((phase) => phase.tooManyErrors !== null)?.tooManyErrors;
  if (tooMany != null) return { status: 'failed', failure: tooMany };
  if (interrupted && aborting.aborted)
    return { status: 'aborted', failure: 'aborted: requests in flight were cancelled' };
  if (interrupted) return { status: 'aborted', failure: 'ended early: requests in flight were completed' };
  const measure = phases.find((phase) => phase.phase === 'measure');
  if (measure === undefined || measure.requests.ok === 0) {
    const why = phases.find((phase) => phase.overBudget !== null)?.overBudget ?? null;
    return { status: 'failed', failure: `no request succeeded${why === null ? firstMessage(measure) : `: ${why}`}` };
  }
  const { ok, error, timeout } = measure.requests;
  const share = (error + timeout) / (ok + error + timeout);
  if (failedRequestThreshold !== null && share > failedRequestThreshold) {
    const failure = `${error + timeout} of ${ok + error + timeout} requests failed, more than the threshold ${failedRequestThreshold}`;
    return { status: 'failed', failure };
  }
  return { status: 'completed', failure: null };
}

function firstMessage(phase: PhaseResult | undefined): string {
  const [reason, message] = Object.entries(phase?.messages ?? {})[0] ?? [];
  return reason === undefined ? '' : `: ${reason} (${message})`;
}
