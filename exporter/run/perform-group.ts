import { setTimeout as sleep } from 'node:timers/promises';
import type { RunControls } from '../load/phases/run-controls.ts';
import type { PerformedRun } from './perform-run.ts';
import type { RunRequest } from './run-request.ts';

export interface GroupPerformance {
  /** Between the end of a run and the start of the next. */
  readonly cooldownSeconds: number;
  perform(request: RunRequest): Promise<PerformedRun>;
  /** Called before each run of a group. */
  announce(number: number, request: RunRequest): void;
  finished(performed: PerformedRun, request: RunRequest): void;
}

/**
 * Performs runs one after the other. A run that does not complete is the last one: no more load is sent to a failing
 * server, and a user who ends a run early wants no further one. An error of a run ends the group as well.
 */
export async function performGroup(
  requests: readonly RunRequest[],
  controls: RunControls,
  performance: GroupPerformance,
): Promise<readonly PerformedRun[]> {
  const performed: PerformedRun[] = [];
  for (const [index, request] of requests.entries()) {
    if (index > 0) await cooldown(performance.cooldownSeconds, controls);
    if (controls.draining.aborted) break;
    if (requests.length > 1) performance.announce(index + 1, request);
    const run = await performance.perform(request);
    performed.push(run);
    performance.finished(run, request);
    if (run.result.status !== 'completed') break;
  }
  return performed;
}

async function cooldown(seconds: number, controls: RunControls): Promise<void> {
  try {
    await sleep(seconds * 1000, undefined, { signal: controls.draining });
  } catch (error) {
    if (!controls.draining.aborted) throw error;
  }
}
