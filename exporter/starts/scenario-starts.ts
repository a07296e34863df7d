import type { StartedRun } from '../../core/api/service.ts';
import { createRunId } from '../../core/run/run-id.ts';
import type { AllowedRuns } from './allowed-runs.ts';
import type { StartRun } from './run-process.ts';
import { NEVER_STARTED, type RunQueue } from './run-queue.ts';

const MAX_KEPT = 100;
/** The work was done; objectives that are not met are part of the result. */
const DONE: readonly (number | null)[] = [0, 99];

export interface ScenarioStartsOptions {
  readonly allowed: () => AllowedRuns;
  readonly queue: RunQueue;
  readonly startRun: StartRun;
  /** Where the runs are stored, absolute. */
  readonly runsDirectory: string;
}

/** The runs that clients start by the names of scenarios, the newest 100. */
export class ScenarioStarts {
  readonly #options: ScenarioStartsOptions;
  readonly #runs = new Map<string, StartedRun>();

  constructor(options: ScenarioStartsOptions) {
    this.#options = options;
  }

  /** The names of the scenarios that may be started. */
  get scenarios(): readonly string[] {
    return [...this.#options.allowed().scenarios.keys()];
  }

  /** The newest first. */
  get runs(): readonly StartedRun[] {
    return [...this.#runs.values()].reverse();
  }

  find(runId: string): StartedRun | null {
    return this.#runs.get(runId) ?? null;
  }

  /** Starts a scenario as soon as the queue allows. Null: the queue is full. Throws a `RangeError` if it is not allowed. */
  start(scenario: string): StartedRun | null {
    const { queue, startRun, runsDirectory, allowed } = this.#options;
    const { scenarios, folder } = allowed();
    const words = scenarios.get(scenario)?.words;
    if (words === undefined) throw new RangeError(`${scenario} is not a scenario that may be started`);
    const run_id = createRunId(new Date());
    const own = ['--scenario', scenario, '--run-id', run_id, '--runs-dir', runsDirectory, '--json'];
    const waiting: StartedRun = {
      ...{ run_id, scenario, state: 'queued', requested: now(), began: null, ended: null },
      ...{ exit_code: null, message: null },
    };
    this.#runs.set(run_id, waiting);
    const run = queue.add(() => {
      this.#change(run_id, { state: 'running', began: now() });
      return startRun([...words, ...own], { folder, keepsOutput: false });
    });
    if (run === null) {
      this.#runs.delete(run_id);
      return null;
    }
    void run.ended.then((end) => {
      const message = end === NEVER_STARTED || !DONE.includes(end.exitCode) ? end.message : null;
      this.#change(run_id, { state: 'ended', ended: now(), exit_code: end.exitCode, message });
      this.#forget();
    });
    return this.find(run_id);
  }

  #change(runId: string, change: Partial<StartedRun>): void {
    const run = this.#runs.get(runId);
    if (run !== undefined) this.#runs.set(runId, { ...run, ...change });
  }

  /** Those that wait or are running are limited by the queue. */
  #forget(): void {
    const ended = [...this.#runs.values()].filter(({ state }) => state === 'ended');
    for (const { run_id } of ended.slice(0, -MAX_KEPT)) this.#runs.delete(run_id);
  }
}

const now = (): string => new Date().toISOString();
