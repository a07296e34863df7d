import { basename } from 'node:path';
import { createRunId } from '../../core/run/run-id.ts';
import { monotonicNow_ns, runEpoch, wallNow_ms, type RunEpoch } from '../clock/monotonic-clock.ts';
import { importFiles, type ImportOutcome } from '../imports/import-files.ts';
import { ImportNotes } from '../imports/import-notes.ts';
import { NOTHING_MEASURED, partHash, storeImport, UNKNOWN_KEY } from '../imports/import-run.ts';
import { ALONE, reportedRun, type FileGroup, type Importer } from '../imports/importer.ts';
import { serversOfRun } from '../imports/servers-of-stores.ts';
import { createLiveMetrics } from '../publish/live-metrics.ts';
import type { ServedPage, ServePage } from '../publish/served-page.ts';
import { awaitScrape, openLivePage, type LivePageRequest } from '../run/run-outputs.ts';
import { recognizedTargets, type RecognizedTargets } from '../run/metrics-pages.ts';
import { runFile } from '../run/run-plan.ts';
import { collectionOf } from '../servers/collection.ts';
import { Collector } from '../servers/scrape/collector.ts';
import { SearchWatch, type TargetSearch } from '../servers/discovery/search-watch.ts';
import { endEdge } from '../servers/scrape/run-edges.ts';
import type { Target } from '../servers/scrape/targets.ts';
import { LateFamilies } from '../servers/summary/late-families.ts';
import type { RunStore } from '../store/run-store.ts';
import type { RunPlan, RunWriter } from '../store/run-writer.ts';
import {
  ResultsOfCommand,
  type CollectionOver,
  type CommandFacts,
  runCommand,
  type CommandEnd,
  filesWrittenSince,
  likelyPlaces,
  type WrittenFile,
} from './results-of-command.ts';

interface CommandRequest extends LivePageRequest {
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly store: RunStore;
  readonly scenario: string;
  readonly tags: readonly string[];
  /** Metrics pages of the servers; empty: nothing is collected. */
  readonly targets: readonly Target[];
  /** Repeated while the command runs. */
  readonly searches: readonly TargetSearch[];
  readonly intervalSeconds: number;
  /** Files and directories with the command's results; empty: `likelyPlaces`. */
  readonly results: readonly string[];
  readonly importers: readonly Importer[];
  /** IANA zone of times without one: the command runs on this machine. */
  readonly timeZone: string;
  readonly awaitScrape: boolean;
  readonly version: string;
  readonly servePage: ServePage;
  readonly say: (line: string) => void;
}

/** What is known when a watched command has ended. */
export interface WatchedCommand extends CommandEnd {
  /** The run of the command; it has no results of a client if none were recognized. */
  readonly runId: string;
  /** How many files it wrote. */
  readonly files: number;
  /** What became of those that are results. */
  readonly outcomes: readonly ImportOutcome[];
}

/**
 * Performs a command of another tool as a run: it is live and its servers are collected from before its start until their
 * counts rest after its end; then its results are imported into the run. Throws an
 * `ExpectedError` if the command cannot be started; then no run is left.
 */
export async function watchCommand(request: CommandRequest): Promise<WatchedCommand> {
  const { store, say, version } = request;
  const epoch = runEpoch();
  const now_ns = (): number => monotonicNow_ns() - epoch.monotonic_ns;
  const servers = new Collector({
    targets: request.targets,
    interval_ns: request.intervalSeconds * 1e9,
    now_ns,
    report: say,
  });
  try {
    await servers.scrapeEdge();
    servers.start();
    const recognized = recognizedTargets(servers.loops, { mains: [], named: request.targets });
    const plan = planOf(request, epoch, recognized);
    const live = createLiveMetrics({
      ...{ run: runFile(plan), version, hasClient: false },
      ...(request.targets.length === 0 ? {} : { respondingTargets: () => servers.responding }),
    });
    live.targetsRead(recognized.read);
    const page = await openLivePage(request, plan, live, version, request);
    try {
      const writer = await store.begin(plan, {
        metrics_url: page?.metricsUrl ?? null,
        server_metrics_urls: [...recognized.urls],
      });
      say(`run ${plan.run_id} of scenario ${plan.scenario}`);
      await awaitScrape({
        request: { ...request, shard: null },
        outputs: { page },
        servers: { recognized },
        host: { say },
        controls: { draining: NEVER },
      });
      const read = request.targets.map(({ url }) => url);
      const watch = new SearchWatch(request.searches, read, {
        ...{ collector: servers, now_ns, report: say },
        changed: () => live.targetsRead(recognizedTargets(servers.loops, { mains: [], named: request.targets }).read),
      });
      const watched = { request, epoch, plan, live, page, writer, servers, watch, now_ns };
      watch.start();
      return await perform(watched).finally(() => watch.stop());
    } finally {
      await page?.close?.();
    }
  } finally {
    await servers.stop();
  }
}

const NEVER = new AbortController().signal;

interface WatchedRun {
  readonly request: CommandRequest;
  readonly epoch: RunEpoch;
  readonly plan: RunPlan;
  readonly live: ReturnType<typeof createLiveMetrics>;
  readonly page: ServedPage | null;
  readonly writer: RunWriter;
  readonly servers: Collector;
  readonly watch: SearchWatch;
  readonly now_ns: () => number;
}

async function perform(run: WatchedRun): Promise<WatchedCommand> {
  const { request, epoch, plan, live, page, writer, now_ns } = run;
  const start_ns = now_ns();
  const start_ms = wallNow_ms(epoch);
  for (const receiver of [live, writer]) receiver.phaseStarted('measure', start_ns);
  page?.begin?.();
  const end = await runCommand(request.command).catch(async (error: unknown) => {
    await writer.discard();
    throw error;
  });
  const window = { start_ns, end_ns: now_ns() };
  for (const receiver of [live, writer]) receiver.phaseEnded('measure', window.end_ns);
  page?.end?.(false);
  const collected = request.targets.length === 0 ? null : await collectedOf(run);
  const places = request.results.length > 0 ? request.results : likelyPlaces(request.command, process.cwd());
  const files = await filesWrittenSince(places, start_ms, request.store.directory);
  const ending = { hurried: false, givenUp: NEVER };
  await page?.finish?.(ending);
  const facts = { plan, start_ms, end_ms: wallNow_ms(epoch), window, end, collected };
  const into = new ResultsOfCommand(facts);
  const outcomes = files.length === 0 ? [] : await importResults(request, files, into);
  if (!into.isFilled) await storeWithoutClient(request, facts);
  await writer.discard();
  await page?.depart?.(ending);
  return { ...end, runId: plan.run_id, files: files.length, outcomes };
}

/** The run before the command starts: what the command will do is not known. */
function planOf(
  { scenario, tags, command, targets }: CommandRequest,
  epoch: RunEpoch,
  { system }: RecognizedTargets,
): RunPlan {
  const [only, ...others] = targets.map(({ url }) => new URL(url).origin);
  return {
    run_id: createRunId(epoch.wall),
    scenario,
    tags,
    comparison_key: UNKNOWN_KEY,
    gates: null,
    ...{ group_id: null, step: null, repeat: null, shard: '0' },
    target: { origin: others.length === 0 ? (only ?? null) : null, system, system_version: null },
    tool: { name: basename(command[0] ?? ''), version: null },
    command_line: null,
    start: epoch.wall.toISOString(),
  };
}

/** Waits until the servers' counts rest. */
async function collectedOf({ servers, watch, epoch, now_ns, request: { say } }: WatchedRun): Promise<CollectionOver> {
  const edges = { now_ns, drainTimeoutSeconds: 0, say, late: new LateFamilies() };
  watch.stop();
  const end = await endEdge(servers, edges, NEVER);
  await servers.stop();
  const zeroWall_ns = BigInt(epoch.wall.getTime()) * 1_000_000n;
  return (window, isLast) => {
    // Another run of the command may have begun soon after.
    const settled_ns = isLast ? end.settled_ns : Math.min(end.settled_ns, window.end_ns + 1.5 * servers.interval_ns);
    const options = { zeroWall_ns, window, settled_ns, slice_ns: null, definitions: 'llmbench' } as const;
    return collectionOf(servers, { ...options, changes: watch.changes });
  };
}

function importResults(
  { store, importers, timeZone, tags, scenario }: CommandRequest,
  files: readonly WrittenFile[],
  into: ResultsOfCommand,
): Promise<readonly ImportOutcome[]> {
  const older = new Set(files.filter(({ existed }) => existed).map(({ path }) => path));
  return importFiles({
    ...{ store, importers, timeZone, scenario, tags },
    paths: files.map(({ path }) => path),
    signal: NEVER,
    onProgress: into,
    select: ({ files: read }: FileGroup) =>
      read.some(({ file }) => older.has(file.path)) ? (runs) => into.newest(runs) : null,
    assign: (imported) => into.assign(imported),
  }).then(({ outcomes }) => outcomes);
}

/** The command wrote no result that is recognized: its time and its servers are the run. */
async function storeWithoutClient(
  { store, scenario, tags }: CommandRequest,
  { plan, window, end, collected }: CommandFacts,
): Promise<void> {
  const { run_id: runId, tool, start, target } = plan;
  const { start_ns, end_ns } = window;
  const run = reportedRun({
    ...{ tool: tool.name, format: 'command', scenario, start, target, notes: new ImportNotes() },
    status: end.failure === null ? 'completed' : 'aborted',
    failure: end.failure,
    stated: { window_start_ns: start_ns, window_seconds: (end_ns - start_ns) / 1e9 },
    servers: collected && { forRun: () => serversOfRun(collected(window, true), NOTHING_MEASURED) },
  });
  const source = { sha256: partHash(runId, 'command'), files: [], imported_at: new Date().toISOString(), position: 0 };
  await storeImport(store, run, { files: [], name: scenario, ...ALONE }, source, { tags, runId });
}
