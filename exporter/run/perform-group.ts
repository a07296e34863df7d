import { setTimeout as sleep } from 'node:timers/promises';
import type { RunControls } from '../load/phases/run-controls.ts';
import { Departures, type DepartureLines } from './departures.ts';
import type { DepartingRun, PerformedRun } from './perform-run.ts';
import type { RunRequest } from './run-request.ts';

export interface GroupPerformance {
  /** Between the end of a run and the start of the next. */
  readonly cooldownSeconds: number;
  perform(request: RunRequest): Promise<DepartingRun>;
  /** Called before each run of a group. */
  announce(number: number, request: RunRequest): void;
  /** The run is published; the scrapers of a single run have its last values as well. */
  finished(performed: PerformedRun, request: RunRequest): void | Promise<void>;
  /** Whether the next run of a group is to be performed; by default it is. */
  goesOn?(performed: readonly PerformedRun[]): boolean;
  /** Nothing is measured until scrapers have come. */
  waiting(): void;
  /** The scrapers of all runs of a group have their last values: lines for the user. */
  departed(lines: DepartureLines, runs: number): void;
}

/**
 * Performs runs one after the other. A run that does not complete is the last one: no more load is sent to a failing
 * server, and a user who ends a run early wants no further one. An error of a run ends the group as well. While a run is
 * measured, those before it wait for their scrapers; at the end all of them are waited for.
 */
export async function performGroup(
  requests: readonly RunRequest[],
  controls: RunControls,
  performance: GroupPerformance,
): Promise<readonly PerformedRun[]> {
  const [only] = requests;
  if (only !== undefined && requests.length === 1) return [await performOne(only, performance)];
  const departures = new Departures();
  const performed: PerformedRun[] = [];
  try {
    for (const [index, request] of requests.entries()) {
      if (index > 0) await cooldown(performance.cooldownSeconds, controls);
      if (departures.isFull) performance.waiting();
      await departures.room();
      if (controls.draining.aborted) break;
      performance.announce(index + 1, request);
      const { departure, ...run } = await performance.perform(request);
      departures.add(departure);
      performed.push(run);
      await performance.finished(run, request);
      if (run.result.status !== 'completed') break;
      if (performance.goesOn?.(performed) === false) break;
    }
  } catch (error) {
    performance.waiting();
    await departures.settled();
    throw error;
  }
  performance.waiting();
  performance.departed(await departures.all(), performed.length);
  return performed;
}

async function performOne(request: RunRequest, performance: GroupPerformance): Promise<PerformedRun> {
  const { departure, ...run } = await performance.perform(request);
  performance.waiting();
  const performed = { ...run, notes: [...run.notes, ...(await departure)] };
  await performance.finished(performed, request);
  return performed;
}

async function cooldown(seconds: number, controls: RunControls): Promise<void> {
  try {
    await sleep(seconds * 1000, undefined, { signal: controls.draining });
  } catch (error) {
    if (!controls.draining.aborted) throw error;
  }
}
