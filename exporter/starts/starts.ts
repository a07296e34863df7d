import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, dirname, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { StartedRun } from '../../core/api/service.ts';
import type { ResultFile } from '../../core/run/result.ts';
import { createRunId } from '../../core/run/run-id.ts';
import { Reloaded } from '../files/reloaded.ts';
import { type EndedRun, NEVER_STARTED, type QueuedRun, RunQueue, type StartRun } from './run-queue.ts';
import { isName, NAME_RULE } from '../../core/run/run.ts';
import { yamlSection, type YamlSection } from '../files/yaml-section.ts';

/** What the clients of a service may start; all of it waits in one queue. */
export interface ServiceStarts {
  readonly starts: ScenarioStarts;
  readonly probes: ScenarioProbes;
  /** Ends all runs within this time. */
  stop(within_ms: number): Promise<void>;
}

interface ServiceStartsOptions {
  /** The file of allowed runs; it is read again when it changes. */
  readonly file: string;
  readonly startRun: StartRun;
  /** Where the runs that are kept are stored, absolute. */
  readonly runsDirectory: string;
  /** What is wrong with options of `llmbench run`; null: nothing. */
  readonly problemOf: (words: readonly string[]) => string | null;
  /** Receives one line for each later change of the file that is not valid. */
  readonly problem: (line: string) => void;
}

/** Throws a `ConfigurationError` if the file is not valid. */
export function serviceStarts({
  file,
  startRun,
  runsDirectory,
  problemOf,
  problem,
}: ServiceStartsOptions): ServiceStarts {
  const reloaded = new Reloaded((read) => parseAllowedRuns(read(file), file, problemOf), problem);
  const allowed = () => reloaded.current();
  const queue = new RunQueue(allowed);
  return {
    starts: new ScenarioStarts({ allowed, queue, startRun, runsDirectory }),
    probes: new ScenarioProbes({ allowed, queue, startRun }),
    stop: (within_ms) => queue.stop(within_ms),
  };
}

const MAX_KEPT = 100;

/** The work was done; objectives that are not met are part of the result. */
const DONE: readonly (number | null)[] = [0, 99];

interface ScenarioStartsOptions {
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
      return startRun(['run', ...words, ...own], { folder, keepsOutput: false });
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

/** What a probe found. */
interface ScenarioOutcome {
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

const STOPS_WITHIN_MS = 5_000;

/**
 * Runs scenarios for a scraper that waits for their results. The runs are not kept: Prometheus keeps the results. Probes of
 * one scenario at the same time share one run; a run for which no client waits is stopped.
 */
export class ScenarioProbes {
  readonly #options: Omit<ScenarioStartsOptions, 'runsDirectory'>;
  readonly #probing = new Map<string, SharedProbe>();

  constructor(options: Omit<ScenarioStartsOptions, 'runsDirectory'>) {
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
        const process = startRun(['run', ...words, ...own], { folder, keepsOutput: true });
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

/** A scenario that clients may start by its name. */
interface AllowedScenario {
  readonly name: string;
  /** Options of `llmbench run`. */
  readonly words: readonly string[];
  /** Whether `GET /probe` may start it too. */
  readonly probe: boolean;
}

/** What may be started, and how much of it at once. */
interface AllowedRuns {
  readonly scenarios: ReadonlyMap<string, AllowedScenario>;
  /** The folder to which paths in the file are relative. */
  readonly folder: string;
  /** Runs at the same time. */
  readonly concurrent: number;
  /** Runs that wait. */
  readonly queue: number;
}

const MAX_SCENARIOS = 1000;
const MAX_CONCURRENT = 16;
const MAX_QUEUED = 100;
const DEFAULT_QUEUE = 5;
/** Set for each run that is started. */
const SET_HERE = ['runs-dir', 'run-id', 'scenario', 'json', 'config', 'shard', 'help', 'help-all'];

/**
 * Reads a file of allowed runs. Throws a `ConfigurationError` that begins with `file` if it is not valid. `problemOf`
 * returns what is wrong with the options of a scenario; null: nothing.
 */
export function parseAllowedRuns(
  text: string,
  file: string,
  problemOf: (words: readonly string[]) => string | null,
): AllowedRuns {
  const root = yamlSection(text, file);
  root.onlyHas(['scenarios', 'concurrent', 'queue']);
  const scenarios = root.section('scenarios');
  const names = scenarios.keys();
  if (names.length === 0) scenarios.refuse('', 'must name at least one scenario');
  if (names.length > MAX_SCENARIOS) scenarios.refuse('', `has more than ${MAX_SCENARIOS} entries`);
  const folder = dirname(resolve(file));
  return {
    scenarios: new Map(
      names.map((name) => {
        if (!isName(name)) scenarios.refuse(JSON.stringify(name.slice(0, 200)), `must be ${NAME_RULE}`);
        return [name, allowedScenario(scenarios.section(name), name, folder, problemOf)];
      }),
    ),
    folder,
    concurrent: root.has('concurrent') ? root.count('concurrent', 1, MAX_CONCURRENT) : 1,
    queue: root.has('queue') ? root.count('queue', 0, MAX_QUEUED) : DEFAULT_QUEUE,
  };
}

function allowedScenario(
  section: YamlSection,
  name: string,
  folder: string,
  problemOf: (words: readonly string[]) => string | null,
): AllowedScenario {
  section.onlyHas(['config', 'arguments', 'probe']);
  const config = section.text('config');
  const given = section.words('arguments');
  if (config === null && given.length === 0) section.refuse('', 'requires config or arguments');
  const taken = SET_HERE.find((option) => given.some((word) => word.split('=')[0] === `--${option}`));
  if (taken !== undefined) section.refuse('arguments', `must not contain --${taken}: serve sets it`);
  const words = [...(config === null ? [] : ['--config', resolve(folder, config)]), ...given];
  const problem = problemOf(words);
  if (problem !== null) section.refuse('', `cannot be run: ${problem}`);
  return { name, words, probe: section.boolean('probe') ?? false };
}
