import { quantity } from '../../core/text/quantities.ts';
import type { ChildRun, StartRun } from './run-queue.ts';
import { dirname, resolve } from 'node:path';
import { isName, NAME_RULE } from '../../core/run/run.ts';
import { ConfigurationError } from '../errors/expected-error.ts';
import { yamlSection, type YamlSection } from '../files/yaml-section.ts';

interface ScenarioScheduleOptions {
  /** Those of the file as it is now. */
  readonly scheduled: () => ScheduledScenarios;
  readonly startRun: StartRun;
  /** Absolute. */
  readonly runsDirectory: string;
  /** When a scenario was last judged, in milliseconds since 1970; null: never. */
  readonly judgedAt: (scenario: string) => Promise<number | null>;
  /** Whether this process is the one that evaluates the scenarios of the runs directory. */
  readonly isLeader: () => Promise<boolean>;
  readonly info: (line: string) => void;
  readonly warn: (line: string) => void;
  readonly now_ms?: () => number;
}

/** Since the start of this process. */
interface EvaluationCounts {
  evaluations: number;
  failures: number;
  /** Windows that became due and were not evaluated before the next one. */
  missed: number;
}

interface ScenarioProgress {
  /** The end of the newest window that needs nothing more; null: not known yet. */
  done: number | null;
  /** The window that failed last, and when it is tried again. */
  failed: { readonly end: number; readonly times: number; readonly retryAt: number } | null;
  /** What was last reported, so that it is reported once. */
  message: string | null;
  readonly counts: EvaluationCounts;
}

const LOOK_EVERY_MS = 1000;
const EVALUATION_LIMIT_MS = 15 * 60_000;
const STOPS_WITHIN_MS = 10_000;
const FIRST_RETRY_MS = 60_000;
const MAX_RETRY_MS = 15 * 60_000;
/** Of `llmbench import --check`: a regression that is open is a result. */
const DONE: readonly (number | null)[] = [0, 99];
const NOTHING_TO_JUDGE = 'nothing to judge';
const ANOTHER_EVALUATES =
  'another llmbench serve evaluates the scheduled scenarios of these runs; this one continues when it has ended';

/**
 * Evaluates scenarios when their windows are due, one at a time, each in a process of its own. Only the newest window of a
 * scenario is evaluated: windows that were missed are counted. One that fails is tried again until the next is due.
 */
export class ScenarioSchedule {
  readonly #options: ScenarioScheduleOptions;
  readonly #progress = new Map<string, ScenarioProgress>();
  readonly #now_ms: () => number;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #running: ChildRun | null = null;
  #isStopped = false;
  #isLeader = true;

  constructor(options: ScenarioScheduleOptions) {
    this.#options = options;
    this.#now_ms = options.now_ms ?? Date.now;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#looking ??= this.look()
        .catch((error: unknown) => this.#options.warn(`scheduled scenarios: ${String(error)}`))
        .finally(() => (this.#looking = null));
    }, LOOK_EVERY_MS);
  }

  /** Ends an evaluation within this time; it is made again by the next start. */
  async stop(within_ms: number): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer ?? undefined);
    this.#running?.stop(within_ms);
    await this.#looking;
  }

  /** By the names of the scenarios in the file. */
  get counts(): ReadonlyMap<string, Readonly<EvaluationCounts>> {
    return new Map(this.#options.scheduled().scenarios.map(({ name }) => [name, this.#of(name).counts]));
  }

  /** Evaluates what is due now. */
  async look(): Promise<void> {
    for (const scenario of this.#options.scheduled().scenarios) {
      const end = newestDue(scenario, this.#now_ms());
      const progress = this.#of(scenario.name);
      if (progress.done !== null && progress.done >= end) continue;
      if (progress.failed?.end === end && this.#now_ms() < progress.failed.retryAt) continue;
      if (!(await this.#leads()) || this.#isStopped) return;
      // Judged before this start, by another process, or by a command.
      const judgedAt = await this.#options.judgedAt(scenario.name);
      if (judgedAt !== null && judgedAt >= end + scenario.delay_ms) {
        progress.done = end;
        continue;
      }
      await this.#evaluate(scenario, end, progress);
    }
  }

  async #leads(): Promise<boolean> {
    const was = this.#isLeader;
    this.#isLeader = await this.#options.isLeader();
    if (was && !this.#isLeader) this.#options.info(ANOTHER_EVALUATES);
    return this.#isLeader;
  }

  #of(name: string): ScenarioProgress {
    const known = this.#progress.get(name) ?? {
      ...{ done: null, failed: null, message: null },
      counts: { evaluations: 0, failures: 0, missed: 0 },
    };
    this.#progress.set(name, known);
    return known;
  }

  async #evaluate(scenario: ScheduledScenario, end: number, progress: ScenarioProgress): Promise<void> {
    const { startRun, runsDirectory, scheduled } = this.#options;
    const [from, to] = [new Date(end - scenario.window_ms), new Date(end)];
    const own = [...windowWords(scenario.name, from, to), `--runs-dir=${runsDirectory}`];
    const run = startRun(['import', ...scenario.words, ...own], { folder: scheduled().folder, keepsOutput: false });
    this.#running = run;
    let isLate = false;
    const limit = setTimeout(() => {
      isLate = true;
      run.stop(STOPS_WITHIN_MS);
    }, EVALUATION_LIMIT_MS);
    const ended = await run.ended;
    clearTimeout(limit);
    this.#running = null;
    // It did not fail: it was ended with this process.
    if (this.#isStopped && !DONE.includes(ended.exitCode)) return;
    progress.counts.evaluations += 1;
    const window = `window ${from.toISOString()} to ${to.toISOString()}`;
    if (DONE.includes(ended.exitCode)) {
      progress.counts.missed += missedBefore(scenario, progress.done, end);
      Object.assign(progress, { done: end, failed: null });
      const found = ended.exitCode === 99 ? 'a regression is open' : 'judged, no regression is open';
      const isNothing = ended.message?.includes(NOTHING_TO_JUDGE) === true;
      this.#say('info', scenario.name, isNothing ? NOTHING_TO_JUDGE : `${window}: ${found}`, progress);
      return;
    }
    progress.counts.failures += 1;
    const times = progress.failed?.end === end ? progress.failed.times + 1 : 1;
    const wait_ms = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (times - 1));
    progress.failed = { end, times, retryAt: this.#now_ms() + wait_ms };
    const why = isLate
      ? `it took longer than ${quantity(EVALUATION_LIMIT_MS / 1000, 'seconds')}`
      : (ended.message ?? 'it failed');
    this.#say('warn', scenario.name, `the ${window} could not be judged and is tried again: ${why}`, progress);
  }

  #say(level: 'info' | 'warn', name: string, message: string, progress: ScenarioProgress): void {
    if (progress.message !== message) this.#options[level](`scenario ${name}: ${message}`);
    progress.message = message;
  }
}

/** Windows between the last one that was done and this one. */
const missedBefore = ({ every_ms }: ScheduledScenario, done: number | null, end: number): number =>
  done === null ? 0 : Math.max(0, Math.round((end - done) / every_ms) - 1);

/** A scenario that is judged on a schedule from what a Prometheus recorded; times in milliseconds. */
export interface ScheduledScenario {
  readonly name: string;
  /** Its windows end at multiples of this since 1970 in UTC, and this much later. */
  readonly every_ms: number;
  readonly offset_ms: number;
  readonly window_ms: number;
  /** From the end of a window to its evaluation: samples may arrive late. */
  readonly delay_ms: number;
  /** Whether it is judged beside other servers, such as a canary, and not against days before. */
  readonly isBeside: boolean;
  /** Options of `llmbench import` beside the window and the name. */
  readonly words: readonly string[];
}

export interface ScheduledScenarios {
  readonly scenarios: readonly ScheduledScenario[];
  /** The folder to which paths in the file are relative. */
  readonly folder: string;
}

const MAX_SCENARIOS = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Options of `llmbench import`, by their names. */
const OPTIONS = [
  'prometheus',
  'match',
  'baseline-match',
  'slice',
  'days',
  'prometheus-header',
  'prometheus-bearer-env',
  'prometheus-tls-ca',
  'tag',
  'gate',
  'margin',
  'detect',
];
const TIMES = ['every', 'window', 'offset', 'delay'];
const KEYS = [...OPTIONS, ...TIMES];

/**
 * Reads a file of scheduled scenarios. Throws a `ConfigurationError` with a line for each that is not valid. `problemOf` returns
 * what is wrong with options of `llmbench import`; null: nothing.
 */
export function parseScheduledScenarios(
  text: string,
  file: string,
  problemOf: (words: readonly string[]) => string | null,
): ScheduledScenarios {
  const root = yamlSection(text, file);
  root.onlyHas(['defaults', 'scenarios']);
  const defaults = root.section('defaults');
  defaults.onlyHas(KEYS);
  const section = root.section('scenarios');
  const names = section.keys();
  if (names.length === 0) section.refuse('', 'must name at least one scenario');
  if (names.length > MAX_SCENARIOS) section.refuse('', `has more than ${MAX_SCENARIOS} entries`);
  const faults: string[] = [];
  const scenarios = names.flatMap((name) => {
    try {
      if (!isName(name)) section.refuse(JSON.stringify(name.slice(0, 200)), `must be ${NAME_RULE}`);
      return [scheduledScenario(name, section.section(name), defaults, problemOf)];
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      faults.push(error.message);
      return [];
    }
  });
  if (faults.length > 0) throw new ConfigurationError(faults.join('\n'));
  return { scenarios, folder: dirname(resolve(file)) };
}

function scheduledScenario(
  name: string,
  own: YamlSection,
  defaults: YamlSection,
  problemOf: (words: readonly string[]) => string | null,
): ScheduledScenario {
  own.onlyHas(KEYS);
  const from = (key: string): YamlSection => (own.has(key) ? own : defaults);
  const needed = (key: string): number => own.needed(key, from(key).duration_ms(key));
  for (const key of ['prometheus', 'match']) own.needed(key, from(key).text(key));
  const every_ms = needed('every');
  const window_ms = needed('window');
  const offset_ms = from('offset').duration_ms('offset') ?? 0;
  const delay_ms = from('delay').duration_ms('delay') ?? MINUTE_MS;
  if (every_ms < MINUTE_MS) own.refuse('every', 'must be at least 1m');
  if (window_ms < 1000) own.refuse('window', 'must be at least 1s');
  if (offset_ms >= every_ms) own.refuse('offset', 'must be less than every');
  const isBeside = from('baseline-match').has('baseline-match');
  if (isBeside === from('days').has('days')) own.refuse('', 'requires one of baseline-match and days');
  // A history is of the same hour of each day: another hour is another scenario.
  if (!isBeside && every_ms % DAY_MS !== 0) own.refuse('every', 'must be a multiple of 1d with days');
  const words = [
    ...OPTIONS.flatMap((key) => texts(from(key), key).map((text) => `--${key}=${text}`)),
    ...(isBeside ? [] : ['--accept-passed']),
  ];
  const problem = problemOf([...words, ...windowWords(name, new Date(0), new Date(window_ms))]);
  if (problem !== null) own.refuse('', `cannot be evaluated: ${problem}`);
  return { name, every_ms, offset_ms, window_ms, delay_ms, isBeside, words };
}

/** The options of a window. */
const windowWords = (name: string, from: Date, to: Date): readonly string[] => [
  ...['--check', `--scenario=${name}`, `--from=${from.toISOString()}`, `--to=${to.toISOString()}`],
];

/** A value of an option, or several; numbers need no quotes. */
function texts(section: YamlSection, key: string): readonly string[] {
  const value = section.raw(key) ?? null;
  if (value === null) return [];
  if (Array.isArray(value)) return section.words(key);
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return section.refuse(key, 'must be a string, a number or a list of them');
}

/** The end of the newest window that is due, in milliseconds since 1970. */
export function newestDue(
  { every_ms, offset_ms, delay_ms }: Pick<ScheduledScenario, 'every_ms' | 'offset_ms' | 'delay_ms'>,
  now_ms: number,
): number {
  return Math.floor((now_ms - delay_ms - offset_ms) / every_ms) * every_ms + offset_ms;
}
