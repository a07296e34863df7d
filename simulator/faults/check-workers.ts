import type { FaultPlan } from './plan.ts';

/**
 * Checks that the workers that a plan names are there.
 *
 * @param workers how many the system has; 1: there is no router before them
 * @throws RangeError saying which fault is wrong
 */
export function checkWorkers({ restart, hotWorker }: FaultPlan, workers: number): void {
  if (hotWorker !== null && workers === 1) throw new RangeError('hot-worker: there is only one worker');
  for (const [name, fault] of [
    ['restart', restart],
    ['hot-worker', hotWorker],
  ] as const) {
    if (fault !== null && fault.worker >= workers) {
      throw new RangeError(`${name}: there is no worker ${fault.worker}, the last one is ${workers - 1}`);
    }
  }
}
