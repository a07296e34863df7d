import type { DamagedRun } from '../../../core/api/service.ts';
import { join } from 'node:path';
import { oldestFirst } from '../../../core/run/run-order.ts';
import type { RunFile } from '../../../core/run/run.ts';
import type { RunStore } from '../../store/run-store.ts';
import { readResultFile } from '../../store/sealed/read-run-files.ts';
import { resultFilePath, unfinishedDirectory } from '../../store/run-paths.ts';
import { KeptValues, type KeptValue } from '../../store/index/kept-values.ts';
import { stampsOf } from '../../store/index/stamps.ts';
import { reasonOf } from '../../errors/store-errors.ts';
import type { ScenarioState } from '../../judge/scenario-state.ts';
import type { VerdictSummary } from '../../../core/api/verdict.ts';
import type { ListedRun, RunList } from './run-list.ts';
import { ProgressReader } from './run-progress.ts';
import { resultSummary, runSummary, withNumbers } from './run-summary.ts';
import type { ResultSummary } from './run-summary.ts';
import type { RunSummary } from '../../../core/api/runs.ts';

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
 * it is small. Askers who come together share one look at the directory.
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
  #looking: Promise<RunOverview> | null = null;

  /**
   * `problem` is reported once, in one line, of each result that cannot be read. Unless `readStates` is given, nothing was
   * judged.
   */
  constructor(store: RunStore, list: RunList, problem: (line: string) => void, readStates: ReadStates = nothingJudged) {
    this.store = store;
    this.#list = list;
    this.#problem = problem;
    this.#readStates = readStates;
    this.#results = new KeptValues(store, {
      name: 'result summary',
      read: async (runId) => resultSummary(await readResultFile(store.pathOf(runId))),
    });
  }

  /** Rejects when the runs cannot be listed. */
  overview(): Promise<RunOverview> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
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
