import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunSummary, RunProgress } from '../../../core/api/runs.ts';
import type { DamagedRun } from '../../../core/api/service.ts';
import type { VerdictSummary } from '../../../core/api/verdict.ts';
import { FAILED_OUTCOMES } from '../../../core/run/record.ts';
import { oldestFirst, type OrderedRun } from '../../../core/run/run-id.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { reasonOf, SchemaVersionError, codeOf } from '../../errors/expected-error.ts';
import { openRegularFile } from '../../files/read-regular-file.ts';
import type { ScenarioState } from '../../judge/scenario-state.ts';
import { KeptValues, type KeptValue, runStamps, stampsOf } from '../../store/index/read-changed.ts';
import { resultFilePath, unfinishedDirectory } from '../../store/run-paths.ts';
import type { RunStore } from '../../store/run-store.ts';
import { readFinishedRunFile, readResultFile } from '../../store/sealed/read-run-files.ts';
import { runSummary, resultSummary, withNumbers, type ResultSummary } from './run-summary.ts';

/** A finished run, or one whose run.json cannot be read, with the reason. The same object until its file changes. */
export type ListedRun =
  | { readonly run_id: string; readonly summary: RunSummary; readonly damage: null }
  | { readonly run_id: string; readonly summary: null; readonly damage: string; readonly isNewer?: boolean };

/**
 * The finished runs of a store for a process that serves them repeatedly: only files that are new or have
 * changed are read, and of each no more than its summary stays.
 */
export class RunList {
  readonly #store: RunStore;
  readonly #runs: KeptValues<RunSummary>;
  #current: ReadonlyMap<string, KeptValue<RunSummary>> = new Map();
  #byId: ReadonlyMap<string, ListedRun> = new Map();
  #sorted: readonly ListedRun[] = [];
  readonly #shared: SharedLook<readonly ListedRun[]>;

  constructor(store: RunStore) {
    this.#store = store;
    this.#shared = new SharedLook(
      () => this.#look(),
      () => store.isFilling,
    );
    this.#runs = new KeptValues(store, {
      name: 'run summary',
      read: async (runId) => runSummary(await readFinishedRunFile(store.pathOf(runId)), null),
    });
  }

  /**
   * Newest first, damaged ones last. The same list until a run comes, goes or changes. Rejects
   * when the runs directory cannot be read.
   */
  list(): Promise<readonly ListedRun[]> {
    return this.#shared.ask();
  }

  async #look(): Promise<readonly ListedRun[]> {
    const current = await this.#runs.current(await runStamps(this.#store));
    if (current === this.#current) return this.#sorted;
    const byId = new Map(
      Array.from(current, ([runId, kept]) => {
        const before = this.#current.get(runId) === kept ? this.#byId.get(runId) : undefined;
        return [runId, before ?? listedRun(runId, kept)];
      }),
    );
    this.#current = current;
    this.#byId = byId;
    const placeOf = ({ summary, run_id }: ListedRun): OrderedRun => summary ?? { run_id, start: null };
    this.#sorted = [...byId.values()].sort((a, b) => oldestFirst(placeOf(b), placeOf(a)));
    return this.#sorted;
  }
}

function listedRun(runId: string, { value, error }: KeptValue<RunSummary>): ListedRun {
  return value === null
    ? { run_id: runId, summary: null, damage: reasonOf(error), isNewer: error instanceof SchemaVersionError }
    : { run_id: runId, summary: value, damage: null };
}

const READ_BYTES = 1 << 20;
/** A record begins with its index and its phase; its outcome and its tokens follow before anything long. */
const MEASURED = /^\{"index":\d+,"phase":"measure"/;
const OUTCOME = /"outcome":"(\w+)"/;
const OUTPUT_TOKENS = /"output_tokens":(\d+)/;
const HEAD_CHARACTERS = 1024;

type Counts = Pick<RunProgress, 'requests_done' | 'requests_failed' | 'output_tokens'>;

interface CountedFile {
  offset: number;
  readonly counts: { -readonly [K in keyof Counts]: Counts[K] };
  /** Beginning of the line that was not complete. */
  head: string;
}

/** Counts the requests of running runs from their JSONL files; what was counted once is not read again. */
export class ProgressReader {
  readonly #files = new Map<string, CountedFile>();

  /** `folder` is the run's, under `.unfinished`. */
  async read(run: RunFile, folder: string, now: Date): Promise<RunProgress> {
    const measure = run.phases.find(({ phase }) => phase === 'measure');
    const lasting = run.phases.findLast(({ end }) => end === null);
    const { request_count, benchmark_duration_seconds } = run.comparison_key.stop;
    const began = measure?.start ?? null;
    return {
      phase: lasting?.phase ?? null,
      ...(await this.#measured(join(folder, 'records'))),
      requests_planned: request_count,
      elapsed_seconds: began === null ? null : Math.max(0, (now.getTime() - Date.parse(began)) / 1000),
      planned_seconds: benchmark_duration_seconds,
    };
  }

  /** Forgets the files of runs that run no more. */
  keepOnly(folders: readonly string[]): void {
    for (const path of this.#files.keys()) {
      if (!folders.some((folder) => path.startsWith(join(folder, 'records')))) this.#files.delete(path);
    }
  }

  async #measured(records: string): Promise<Counts> {
    const all = { requests_done: 0, requests_failed: 0, output_tokens: 0 };
    for (const name of await jsonlNames(records)) {
      const { counts } = await this.#counted(join(records, name));
      all.requests_done += counts.requests_done;
      all.requests_failed += counts.requests_failed;
      all.output_tokens += counts.output_tokens;
    }
    return all;
  }

  async #counted(path: string): Promise<CountedFile> {
    const counted = this.#files.get(path) ?? {
      offset: 0,
      counts: { requests_done: 0, requests_failed: 0, output_tokens: 0 },
      head: '',
    };
    this.#files.set(path, counted);
    const file = await openRegularFile(path).catch(nothingWhenGone);
    if (file === null) return counted;
    try {
      const buffer = Buffer.allocUnsafe(READ_BYTES);
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, READ_BYTES, counted.offset);
        if (bytesRead === 0) return counted;
        counted.offset += bytesRead;
        countLines(counted, buffer.toString('latin1', 0, bytesRead));
      }
    } finally {
      await file.close();
    }
  }
}

function countLines(counted: CountedFile, text: string): void {
  let from = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
    countLine(counted.counts, counted.head + text.slice(from, Math.min(end, from + HEAD_CHARACTERS)));
    counted.head = '';
    from = end + 1;
  }
  counted.head = (counted.head + text.slice(from, from + HEAD_CHARACTERS)).slice(0, HEAD_CHARACTERS);
}

function countLine(counts: CountedFile['counts'], head: string): void {
  if (!MEASURED.test(head)) return;
  const outcome = OUTCOME.exec(head)?.[1];
  counts.requests_done += 1;
  if (outcome === 'ok') counts.output_tokens += Number(OUTPUT_TOKENS.exec(head)?.[1] ?? 0);
  if (FAILED_OUTCOMES.some((failed) => failed === outcome)) counts.requests_failed += 1;
}

async function jsonlNames(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(nothingWhenGone)) ?? [];
  return names.filter((name) => name.endsWith('.jsonl'));
}

/** A run may end while it is looked at. */
function nothingWhenGone(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}

/** All runs of a store at one moment. */
export interface RunOverview {
  /** Finished and running ones, the newest first. */
  readonly runs: readonly RunSummary[];
  readonly damaged: readonly DamagedRun[];
}

export interface FoundRun {
  readonly run: RunFile;
  readonly summary: RunSummary;
  /** Where its files are. */
  readonly folder: string;
  /** Whether it is among the finished runs, so that all of its files can be read. */
  readonly finished: boolean;
}

/** What the judge decided, the same array as long as nothing changes. */
type ReadStates = () => Promise<readonly ScenarioState[]>;

const NO_STATES: readonly ScenarioState[] = [];
const nothingJudged: ReadStates = () => Promise.resolve(NO_STATES);

/**
 * The runs of a store with their key numbers and verdicts. A result is read once, until its file changes: what is kept of
 * it is small.
 */
export class RunLibrary {
  readonly store: RunStore;
  readonly #list: RunList;
  readonly #results: KeptValues<ResultSummary>;
  /** Results that cannot be read and were reported. */
  readonly #reported = new WeakSet<KeptValue<ResultSummary>>();
  readonly #progress = new ProgressReader();
  readonly #problem: (line: string) => void;
  readonly #readStates: ReadStates;
  #states = NO_STATES;
  #verdicts: ReadonlyMap<string, VerdictSummary> = new Map();
  readonly #shared: SharedLook<RunOverview>;

  /**
   * `problem` is reported once, in one line, of each result that cannot be read. Unless `readStates` is given, nothing was
   * judged.
   */
  constructor(store: RunStore, list: RunList, problem: (line: string) => void, readStates: ReadStates = nothingJudged) {
    this.store = store;
    this.#list = list;
    this.#problem = problem;
    this.#readStates = readStates;
    this.#shared = new SharedLook(
      () => this.#look(),
      () => store.isFilling,
    );
    this.#results = new KeptValues(store, {
      name: 'result summary',
      read: async (runId) => resultSummary(await readResultFile(store.pathOf(runId))),
    });
  }

  /** Rejects when the runs cannot be listed. */
  overview(): Promise<RunOverview> {
    return this.#shared.ask();
  }

  /** A finished or running run; null when there is none of that name that can be read. */
  async find(runId: string): Promise<FoundRun | null> {
    const { runs } = await this.overview();
    const summary = runs.find(({ run_id }) => run_id === runId);
    if (summary === undefined) return null;
    const unfinished = (await this.store.running()).find(({ run_id }) => run_id === runId);
    if (unfinished !== undefined)
      return { run: unfinished, summary, folder: this.#unfinishedFolder(runId), finished: false };
    return { run: await this.store.readRun(runId), summary, folder: this.store.pathOf(runId), finished: true };
  }

  #unfinishedFolder(runId: string): string {
    return join(unfinishedDirectory(this.store.directory), runId);
  }

  async #look(): Promise<RunOverview> {
    const [listed, running, verdicts] = await Promise.all([this.#list.list(), this.store.running(), this.#judged()]);
    const finished = new Set(listed.map(({ run_id }) => run_id));
    // A run that ended in between is in both lists.
    const current = running.filter(({ run_id }) => !finished.has(run_id));
    this.#progress.keepOnly(current.map(({ run_id }) => this.#unfinishedFolder(run_id)));
    const runs = [...(await this.#runningSummaries(current)), ...(await this.#finishedSummaries(listed))];
    return {
      runs: runs.map((run) => withVerdict(run, verdicts.get(run.run_id))).sort((a, b) => oldestFirst(b, a)),
      damaged: listed.flatMap(({ run_id, damage }) =>
        damage === null ? [] : [{ run_id, reason: this.#withoutFolder(damage) }],
      ),
    };
  }

  async #judged(): Promise<ReadonlyMap<string, VerdictSummary>> {
    const states = await this.#readStates();
    if (states !== this.#states) {
      this.#states = states;
      this.#verdicts = new Map(states.flatMap(({ verdictOf }) => [...verdictOf]));
    }
    return this.#verdicts;
  }

  async #runningSummaries(runs: readonly RunFile[]): Promise<RunSummary[]> {
    const now = new Date();
    const summaries: RunSummary[] = [];
    for (const run of runs) {
      const folder = this.#unfinishedFolder(run.run_id);
      if (run.status === 'running') {
        summaries.push(runSummary(run, await this.#progress.read(run, folder, now)));
      } else {
        // It has ended and waits until its last metrics have been fetched, or was published a moment ago.
        const result = await readResultFile(folder).catch(() => null);
        summaries.push(withNumbers(runSummary(run, null), result && resultSummary(result)));
      }
    }
    return summaries;
  }

  async #finishedSummaries(listed: readonly ListedRun[]): Promise<RunSummary[]> {
    const readable = listed.filter(({ summary }) => summary !== null).map(({ run_id }) => run_id);
    const stamps = await stampsOf(readable, (runId) => resultFilePath(this.store.pathOf(runId)));
    const results = await this.#results.current(stamps);
    return listed.flatMap(({ run_id, summary }) => {
      if (summary === null) return [];
      const result = results.get(run_id);
      if (result?.error != null) this.#report(run_id, result);
      return [withNumbers(summary, result?.value ?? null)];
    });
  }

  /** Once, until the file changes. */
  #report(runId: string, result: KeptValue<ResultSummary>): void {
    if (this.#reported.has(result)) return;
    this.#reported.add(result);
    this.#problem(`run ${runId} is listed without numbers: ${reasonOf(result.error)}`);
  }

  /** Where the runs are is not exposed over HTTP. */
  #withoutFolder(text: string): string {
    return text.replaceAll(`${this.store.directory}/`, '');
  }
}

function withVerdict(run: RunSummary, verdict: VerdictSummary | undefined): RunSummary {
  return verdict === undefined ? run : { ...run, verdict };
}

const PATIENCE_MS = 1_000;

/**
 * Looks at something one at a time: callers who come together share one look. While `isFilling`, so that each look finds
 * thousands of runs that have just come, callers receive after a second what the look before found.
 */
export class SharedLook<T> {
  readonly #look: () => Promise<T>;
  readonly #isFilling: () => boolean;
  #last: { readonly found: T } | null = null;
  #looking: Promise<T> | null = null;

  constructor(look: () => Promise<T>, isFilling: () => boolean) {
    this.#look = look;
    this.#isFilling = isFilling;
  }

  /** Rejects as the look does. */
  async ask(): Promise<T> {
    this.#looking ??= this.#once();
    const last = this.#last;
    if (last === null || !this.#isFilling()) return this.#looking;
    return Promise.race([this.#looking, pause(PATIENCE_MS, last.found)]);
  }

  async #once(): Promise<T> {
    try {
      const found = await this.#look();
      this.#last = { found };
      return found;
    } finally {
      this.#looking = null;
    }
  }
}
