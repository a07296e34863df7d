import type { LoadPhase } from '../../../core/run/record.ts';
import type { Dataset } from '../datasets/dataset.ts';
import { arrivalOffsets_ns } from './arrivals.ts';
import { closedLoop } from './closed-loop.ts';
import type { PhaseLoad } from './load-plan.ts';
import { openLoop } from './open-loop.ts';
import type { Schedule, WakeClock } from './schedule.ts';
import { StagedLoop, type StageParts } from './staged-loop.ts';

/** The schedule of a phase. `clock` starts a clock; it is called only when requests have their own due times. */
export async function phaseSchedule(
  { load, requestCount, coolDown = false }: PhaseLoad,
  phase: LoadPhase,
  dataset: Pick<Dataset, 'due_ns'>,
  clock: () => Promise<WakeClock>,
  parts: StageParts,
): Promise<Schedule> {
  if (load.arrivals === null) return closedLoop(load, parts.share);
  if (load.arrivals.kind === 'stages') {
    const { arrivals } = load;
    const isRated = arrivals.stages.some(({ kind }) => kind === 'rate');
    return new StagedLoop({ ...load, arrivals }, isRated ? await clock() : null, {
      ...parts,
      coolsDown: coolDown,
    });
  }
  const arrivals = { offsets_ns: arrivalOffsets_ns(load.arrivals, phase, dataset), count: requestCount };
  return openLoop(load, arrivals, await clock(), parts.share);
}
