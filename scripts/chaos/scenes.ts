import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OUTCOMES, countOf } from '../../core/run/record.ts';
import { readBaseline } from '../../exporter/judge/baseline.ts';
import { readVerdicts } from '../../exporter/judge/verdict-log.ts';
import { openStore } from '../../exporter/store/run-store.ts';
import { verifyRun } from '../../exporter/store/verify-run.ts';
import { SHARDED_REQUESTS, SHARDED_RUN, STORED_RUNS, TIMED_RUNS, WAITING_POINTS, type World } from './world.ts';

/** A command that trials disturb, and what must hold after the disturbance. */
export interface Scene {
  readonly name: string;
  argv(world: World, runs: string): readonly string[];
  /** Runs that the command may remove. */
  readonly removes?: readonly string[];
  /** Returns what is wrong after the disturbance, one line each. */
  disturbed?(world: World, runs: string, after: Disturbance): Promise<readonly string[]>;
  /** After the command has been repeated without disturbance and ended with this code. */
  repeated(world: World, runs: string, code: number | null): Promise<readonly string[]>;
}

interface Disturbance {
  /** When the process had ended. */
  readonly at_ms: number;
  /** Whether it could not write all that it wanted to. */
  readonly noSpace: boolean;
}

/** The copy of the runs directory in which a scene's command runs undisturbed first. */
export const UNDISTURBED = 'undisturbed';
const RUN_ID = 'measured';
const REQUESTS = 60;
/** Longer than a finished request may wait to be written, on a machine that is busy. */
const WRITTEN_AFTER_MS = 1000;

const codes =
  (...allowed: readonly number[]) =>
  (code: number | null): readonly string[] =>
    code !== null && allowed.includes(code) ? [] : [`the repeated command ended with ${code}`];

async function pages(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.openmetrics'));
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const)),
  );
}

/** Where the pages of a copy of the runs directory go. */
const blocksOf = (runs: string): string => `${runs}-blocks`;

/** Whether a run is there, whole, with this number of requests. */
async function wholeRun(runs: string, runId: string, count: number): Promise<readonly string[]> {
  const { store } = await openStore(runs);
  if (!(await store.runIds()).includes(runId)) return [`run ${runId} is missing`];
  const { requests, status } = await store.readResult(runId);
  const kept = countOf(requests, OUTCOMES);
  return status === 'completed' && kept === count ? [] : [`${runId}: ${status} with ${kept} of ${count} requests`];
}

const measure: Scene = {
  name: 'run',
  argv: ({ server }, runs) => [
    ...['run', '--url', server.origin, '--model', 'm', '--osl', '8', '--request-count', String(REQUESTS)],
    ...['--concurrency', '2', '--no-server-metrics', '--linger', 'no', '--runs-dir', runs, '--run-id', RUN_ID],
  ],
  disturbed: async ({ answeredAt_ms }, runs, { at_ms, noSpace }) => {
    const { store } = await openStore(runs);
    // The first response is that of the probe.
    const finished = answeredAt_ms.slice(1).filter((answered_ms) => answered_ms < at_ms - WRITTEN_AFTER_MS).length;
    if (!(await store.runIds()).includes(RUN_ID))
      return finished === 0 ? [] : [`the run with ${finished} requests is lost`];
    const result = await store.readResult(RUN_ID);
    const kept = countOf(result.requests, OUTCOMES) ?? 0;
    // Those that fit are kept, however many.
    const wrong =
      noSpace || kept >= Math.min(finished, REQUESTS) ? [] : [`${kept} of ${finished} finished requests are kept`];
    return result.status === 'completed' && kept !== REQUESTS ? [...wrong, `completed with ${kept} requests`] : wrong;
  },
  // Its name is taken if the disturbed run was kept.
  repeated: (_world, _runs, code) => Promise.resolve(codes(0, 2)(code)),
};

const importing: Scene = {
  name: 'import',
  argv: ({ importFile }, runs) => ['import', importFile, '--runs-dir', runs],
  repeated: async (_world, runs, code) => {
    const { store } = await openStore(runs);
    const imported = (await store.runIds()).length - STORED_RUNS.length - TIMED_RUNS.length;
    return [...codes(0)(code), ...(imported === 2 ? [] : [`${imported} of 2 runs are imported`])];
  },
};

const merging: Scene = {
  name: 'merge',
  argv: (_world, runs) => ['merge', SHARDED_RUN, '--runs-dir', runs],
  // 2: merged already.
  repeated: async (_world, runs, code) => [
    ...codes(0, 2)(code),
    ...(await wholeRun(runs, SHARDED_RUN, SHARDED_REQUESTS)),
  ],
};

const pruning: Scene = {
  name: 'prune',
  argv: (_world, runs) => ['runs', 'prune', '--keep-last', '1', '--yes', '--runs-dir', runs],
  removes: ['run-0', 'run-1', 'run-2', 'timed-0'],
  repeated: async (_world, runs, code) => {
    const left = await (await openStore(runs)).store.runIds();
    return [...codes(0)(code), ...(left.toSorted().join() === 'run-3,timed-1' ? [] : [`left: ${left.join()}`])];
  },
};

const backfilling: Scene = {
  name: 'backfill',
  argv: (_world, runs) => ['backfill', '--all', '--output', `${blocksOf(runs)}/`, '--runs-dir', runs],
  disturbed: async (_world, runs) => {
    const cut = [...(await pages(blocksOf(runs)))].filter(([, text]) => !text.endsWith('# EOF\n'));
    return cut.map(([name]) => `${name} is cut`);
  },
  repeated: async ({ folder }, runs, code) => {
    const [written, expected] = await Promise.all([pages(blocksOf(runs)), pages(blocksOf(join(folder, UNDISTURBED)))]);
    if (expected.size !== TIMED_RUNS.length) return [`${expected.size} pages are written without a disturbance`];
    const wrong = [...expected].filter(([name, text]) => written.get(name) !== text);
    return [...codes(0)(code), ...wrong.map(([name]) => `${name} differs from that of an undisturbed command`)];
  },
};

const pushing: Scene = {
  name: 'push',
  argv: ({ receiver }, runs) => ['push', '--remote-write-url', receiver.url, '--runs-dir', runs],
  repeated: async ({ receiver }, runs, code) => {
    const times = new Set(
      receiver.requests.flatMap(({ series }) => series.flatMap((one) => one.samples.map((s) => s.time_ms))),
    );
    const missing = Array.from({ length: WAITING_POINTS }, (_, i) => 1000 * (i + 1)).filter((time) => !times.has(time));
    const left = await readdir(join(runs, '.remote-write'));
    return [
      ...codes(0)(code),
      ...(missing.length === 0 ? [] : [`${missing.length} points did not arrive`]),
      ...(left.length === 0 ? [] : [`a queue is left: ${left.join()}`]),
    ];
  },
};

const readable = async (runs: string): Promise<readonly string[]> => {
  const [verdicts, baseline] = await Promise.all([readVerdicts(runs, 'nightly'), readBaseline(runs, 'nightly')]);
  const damaged = verdicts.damagedLines.length + baseline.damagedLines.length;
  // A killed append may leave its own cut line, which is named and skipped.
  return damaged <= 1 ? [] : [`${damaged} lines of the scenario are damaged`];
};

const checking: Scene = {
  name: 'check',
  argv: (_world, runs) => ['check', STORED_RUNS[3], '--accept-passed', '--runs-dir', runs],
  disturbed: (_world, runs) => readable(runs),
  repeated: async (_world, runs, code) => {
    const { entries } = await readVerdicts(runs, 'nightly');
    return [...codes(0, 99)(code), ...(await readable(runs)), ...(entries.length > 0 ? [] : ['no verdict is kept'])];
  },
};

const tagging: Scene = {
  name: 'tag',
  argv: (_world, runs) => ['runs', 'tag', STORED_RUNS[0], '+late', '--runs-dir', runs],
  repeated: async (_world, runs, code) => {
    const { tags } = await (await openStore(runs)).store.readRun(STORED_RUNS[0]);
    return [...codes(0)(code), ...(tags.join() === 'late' ? [] : [`tags: ${tags.join()}`])];
  },
};

export const SCENES: readonly Scene[] = [measure, importing, merging, pruning, backfilling, pushing, checking, tagging];

/**
 * What is wrong with a runs directory after any disturbance: a stored run that is missing or whose files do not fit their
 * checksums, something that is left over, or a recovery that does not end.
 */
export async function storeProblems(runs: string, removes: readonly string[] = []): Promise<readonly string[]> {
  const { store } = await openStore(runs);
  const again = await openStore(runs);
  const problems = again.messages.map((message) => `opened again: ${message}`);
  const ids = await store.runIds();
  for (const runId of [...STORED_RUNS, ...TIMED_RUNS]) {
    if (!ids.includes(runId) && !removes.includes(runId)) problems.push(`run ${runId} is lost`);
  }
  for (const { run_id, damage } of await store.list()) if (damage !== null) problems.push(`${run_id}: ${damage}`);
  for (const runId of ids) {
    const { state, problems: found } = await verifyRun(store, runId);
    if (state !== 'ok') problems.push(`${runId} is ${state}: ${found.join('; ')}`);
  }
  const left = (await readdir(join(runs, '.unfinished')).catch(() => [])).filter((name) => !name.startsWith('.'));
  return left.length === 0 ? problems : [...problems, `left over: ${left.join()}`];
}
