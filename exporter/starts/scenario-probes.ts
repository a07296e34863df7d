import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { ResultFile } from '../../core/run/result.ts';
import type { AllowedRuns, AllowedScenario } from './allowed-runs.ts';
import type { EndedRun, StartRun } from './run-process.ts';
import type { QueuedRun, RunQueue } from './run-queue.ts';

/** What a probe found. */
export interface ScenarioOutcome {
  /** Whether the run completed in time and met its objectives. */
  readonly isSuccess: boolean;
  /** From the request to the response. */
  readonly durationSeconds: number;
  /** Null if the run has none. */
  readonly result: ResultFile | null;
}

/** A run that is measured for one or more probes. */
interface SharedProbe {
  readonly ended: Promise<EndedRun>;
  readonly run: QueuedRun;
  readers: number;
}

export interface ScenarioProbesOptions {
  readonly allowed: () => AllowedRuns;
  readonly queue: RunQueue;
  readonly startRun: StartRun;
}

const STOPS_WITHIN_MS = 5_000;

/**
 * Runs scenarios for a scraper that waits for their results. The runs are not kept: Prometheus keeps the results. Probes of
 * one scenario at the same time share one run; a run for which no client waits is stopped.
 */
export class ScenarioProbes {
  readonly #options: ScenarioProbesOptions;
  readonly #probing = new Map<string, SharedProbe>();

  constructor(options: ScenarioProbesOptions) {
    this.#options = options;
  }

  /** Null if clients may not probe a scenario of that name. */
  find(name: string): AllowedScenario | null {
    const scenario = this.#options.allowed().scenarios.get(name);
    return scenario?.probe === true ? scenario : null;
  }

  /** Runs a scenario until its end, the timeout or until the client is gone. Null: too many runs wait. */
  async probe(scenario: AllowedScenario, timeoutSeconds: number, gone: AbortSignal): Promise<ScenarioOutcome | null> {
    const began_ms = performance.now();
    const probing = this.#probing.get(scenario.name) ?? this.#begin(scenario);
    if (probing === null) return null;
    probing.readers += 1;
    const end = await orNull(probing.ended, timeoutSeconds * 1000, gone);
    probing.readers -= 1;
    if (end === null && probing.readers === 0) {
      // The next probe must not share a run that is being stopped.
      if (this.#probing.get(scenario.name) === probing) this.#probing.delete(scenario.name);
      probing.run.stop(STOPS_WITHIN_MS);
    }
    return {
      isSuccess: end?.exitCode === 0,
      durationSeconds: (performance.now() - began_ms) / 1000,
      result: resultOf(end?.output ?? null),
    };
  }

  #begin({ name, words }: AllowedScenario): SharedProbe | null {
    const { queue, startRun, allowed } = this.#options;
    const { folder } = allowed();
    const run = queue.add(() => {
      const stopping = new AbortController();
      const ended = inMomentaryDirectory(async (directory) => {
        if (stopping.signal.aborted) return { exitCode: null, output: null, message: null };
        const own = ['--scenario', name, '--runs-dir', directory, '--json'];
        const process = startRun([...words, ...own], { folder, keepsOutput: true });
        stopping.signal.addEventListener('abort', () => process.stop(STOPS_WITHIN_MS));
        return process.ended;
      });
      return { ended, stop: () => stopping.abort() };
    });
    if (run === null) return null;
    const probing: SharedProbe = { run, ended: run.ended, readers: 0 };
    this.#probing.set(name, probing);
    void run.ended.then(() => {
      if (this.#probing.get(name) === probing) this.#probing.delete(name);
    });
    return probing;
  }
}

async function inMomentaryDirectory(work: (directory: string) => Promise<EndedRun>): Promise<EndedRun> {
  let directory: string | null = null;
  try {
    directory = await mkdtemp(join(tmpdir(), 'llmbench-probe-'));
    return await work(directory);
  } catch (error) {
    return { exitCode: null, output: null, message: error instanceof Error ? error.message : String(error) };
  } finally {
    if (directory !== null) await rm(directory, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** The value, or null after the time or when the signal is aborted. */
function orNull<T>(value: Promise<T>, limit_ms: number, gone: AbortSignal): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<T | null>();
  const giveUp = (): void => resolve(null);
  const timer = setTimeout(giveUp, limit_ms);
  gone.addEventListener('abort', giveUp);
  if (gone.aborted) giveUp();
  void value.then(resolve);
  return promise.finally(() => {
    clearTimeout(timer);
    gone.removeEventListener('abort', giveUp);
  });
}

/** A scenario with several runs prints something else. */
function resultOf(output: string | null): ResultFile | null {
  if (output === null || output.trim() === '') return null;
  try {
    const value = JSON.parse(output) as Partial<ResultFile>;
    return Array.isArray(value.measures) && typeof value.requests === 'object' ? (value as ResultFile) : null;
  } catch {
    return null;
  }
}
