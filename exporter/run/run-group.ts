import { createRunId } from '../../core/run/run-id.ts';
import { pause } from '../clock/pause.ts';
import type { RunControls } from '../load/phases/run-controls.ts';
import type { DepartingRun, PerformedRun } from './perform-run.ts';
import type { RunRequest } from './run-request.ts';

export interface GroupOptions {
  /** Number of repeats of the whole sweep. */
  readonly repeats: number;
  /** Every run sends the same texts, so that a prefix cache is warm from the second run on. */
  readonly samePrompts: boolean;
  /** Set by the user: the group's name, and the prefix of its runs' names. */
  readonly groupId: string | null;
}

/**
 * The runs of a sweep (one request per step) and its repeats, in the order in which they are performed: all steps, then
 * all of them again, so that drift over time does not look like an effect of the load. Each run's lengths and arrivals
 * are those of its step; its text is unique, so that none recurs. A single run has no group.
 */
export function runGroup(steps: readonly RunRequest[], options: GroupOptions): readonly RunRequest[] {
  const { repeats, samePrompts } = options;
  if (steps.length * repeats === 1) return steps;
  const group_id = options.groupId ?? createRunId(new Date());
  return Array.from({ length: repeats }, (_, round) =>
    steps.map((request, index): RunRequest => {
      const step = steps.length > 1 ? index : null;
      const repeat = repeats > 1 ? round : null;
      const number = round * steps.length + index;
      return {
        ...request,
        runId: options.groupId === null ? null : memberId(options.groupId, step, repeat),
        group: { group_id, step, repeat },
        textVariant: samePrompts ? request.textVariant : request.textVariant + number,
      };
    }),
  ).flat();
}

function memberId(groupId: string, step: number | null, repeat: number | null): string {
  return [groupId, step === null ? null : `s${step}`, repeat === null ? null : `r${repeat}`]
    .filter((part) => part !== null)
    .join('-');
}

export interface GroupPerformance {
  /** Between the end of a run and the start of the next. */
  readonly cooldownSeconds: number;
  perform(request: RunRequest): Promise<DepartingRun>;
  /** Called before each run of a group. */
  announce(number: number, request: RunRequest): void;
  /** The run is published; its scrapers may lack its last values. */
  finished(performed: PerformedRun, request: RunRequest): void | Promise<void>;
  /** Whether the next run of a group is to be performed; by default it is. */
  goesOn?(performed: readonly PerformedRun[]): boolean;
  /** Nothing is measured until scrapers have come. */
  waiting(): void;
  /** The scrapers of all runs have their last values: lines for the user. */
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
  const isGroup = requests.length > 1;
  const departures = new Departures();
  const performed: PerformedRun[] = [];
  try {
    for (const [index, request] of requests.entries()) {
      if (index > 0) await pause(performance.cooldownSeconds * 1000, controls.draining);
      if (departures.isFull) performance.waiting();
      await departures.room();
      if (isGroup && controls.draining.aborted) break;
      if (isGroup) performance.announce(index + 1, request);
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

/** A page with more runs is too large to be scraped while the next one is measured. */
const MAX_DEPARTURES = 16;

/** Lines for the user, with the number of runs that they are about. */
export type DepartureLines = ReadonlyMap<string, number>;

/** The runs of a command that are published and wait for their scrapers while the next run is measured. */
export class Departures {
  readonly #pending = new Set<Promise<void>>();
  readonly #lines = new Map<string, number>();
  #failed: { readonly error: unknown } | null = null;

  add(departure: Promise<readonly string[]>): void {
    const settled: Promise<void> = departure.then(
      (lines) => {
        for (const line of lines) this.#lines.set(line, (this.#lines.get(line) ?? 0) + 1);
        this.#pending.delete(settled);
      },
      (error: unknown) => {
        this.#failed ??= { error };
        this.#pending.delete(settled);
      },
    );
    this.#pending.add(settled);
  }

  get isFull(): boolean {
    return this.#pending.size >= MAX_DEPARTURES;
  }

  /** Waits until one more may be added. Throws the error of a run that could not wait. */
  async room(): Promise<void> {
    while (this.isFull) await Promise.race(this.#pending);
    this.#throwFailure();
  }

  /** Waits until all are gone. Throws the error of a run that could not wait. */
  async all(): Promise<DepartureLines> {
    await this.settled();
    this.#throwFailure();
    return this.#lines;
  }

  /** Waits until all are gone, with or without an error. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #throwFailure(): void {
    if (this.#failed !== null) throw this.#failed.error;
  }
}
