import { resolve } from 'node:path';
import type { Judgment } from '../../core/api/verdict.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { RunsDirectoryError } from '../errors/expected-error.ts';
import { refusal } from '../judge/compare-stored.ts';
import { compare } from '../judge/compare.ts';
import { pairedSlices } from '../judge/slice-doubts.ts';
import { figuresOfRun } from '../judge/load-figures.ts';
import { parseRules, rulesFor } from '../judge/rules.ts';
import { RunStore, type RunListing } from '../store/run-store.ts';
import { isStorageUrl } from '../store/storage-location.ts';

/** A finished run: `run.json`, `result.json` and the directory that holds them. */
export interface StoredRun {
  readonly path: string;
  readonly run: RunFile;
  readonly result: ResultFile;
}

/** The finished runs of a directory, newest first, damaged ones with the reason; none if it does not exist. */
export function listRuns(runsDir: string): Promise<RunListing[]> {
  return storeAt(runsDir).list();
}

/** Reads a finished run; files of earlier versions are migrated in memory. Throws if it is missing or damaged. */
export async function readRun(runsDir: string, runId: string): Promise<StoredRun> {
  const store = storeAt(runsDir);
  const [run, result] = await Promise.all([store.readRun(runId), store.readResult(runId)]);
  return { path: store.pathOf(runId), run, result };
}

/** The requests of a finished run, one after the other. Throws if the run or its records cannot be read. */
export async function* readRecords(runsDir: string, runId: string): AsyncGenerator<RequestRecord> {
  const store = storeAt(runsDir);
  yield* store.readRecords(await store.readRun(runId));
}

/** Reads only: runs whose process is gone are left to the next command. */
function storeAt(runsDir: string): RunStore {
  if (isStorageUrl(runsDir))
    throw new RunsDirectoryError(`${runsDir} is in object storage: download its runs with \`llmbench runs pull\``);
  return new RunStore(resolve(runsDir));
}

/** How two sets of runs are judged; the grammar is that of `llmbench compare`. */
export interface ComparisonOptions {
  /** a[i] and b[i] are a pair: measured one right after the other, with the same plan. */
  readonly paired?: boolean;
  /** Scenarios with different names may be compared, such as those of two engines; the load has to be the same. */
  readonly acrossScenarios?: boolean;
  /** Measures that decide the verdict, at most five: `time_to_first_token:p90`. Default: those of `llmbench compare`. */
  readonly gate?: readonly string[];
  /** Smallest change that matters in percent, for all measures (`'3'`) or for one (`'time_to_first_token:p50=3'`). */
  readonly margin?: readonly string[];
}

/**
 * Judges the runs of `b` against those of `a`, as `llmbench compare` does. The unit of evidence is a run: one run on each
 * side is always undecided. Throws a `RangeError` when a set is empty or the sets do not fit together, and a `RuleError`
 * for a wrong `gate` or `margin`.
 */
export function compareRuns(
  a: readonly Pick<StoredRun, 'run' | 'result'>[],
  b: readonly Pick<StoredRun, 'run' | 'result'>[],
  { paired = false, acrossScenarios = false, gate = [], margin = [] }: ComparisonOptions = {},
): Judgment {
  const figuresA = a.map(({ run, result }) => figuresOfRun(run, result));
  const figuresB = b.map(({ run, result }) => figuresOfRun(run, result));
  const identity = ({ run: { run_id, tool } }: Pick<StoredRun, 'run'>) => ({ run_id, tool: tool.name });
  const refused = refusal({ a: a.map(identity), b: b.map(identity), paired });
  if (refused !== null) throw new RangeError(refused);
  const rules = rulesFor(parseRules({ gate, margin }), [...figuresA, ...figuresB]);
  const slices = paired ? pairedSlices(figuresA, figuresB) : null;
  if (typeof slices === 'string') throw new RangeError(slices);
  return compare(slices?.a ?? figuresA, slices?.b ?? figuresB, {
    ...{ paired, rules, accepted: acrossScenarios ? 'scenarios' : 'none', days: slices?.days ?? [] },
  });
}
