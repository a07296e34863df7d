import { availableParallelism } from 'node:os';
import { goodRequest } from '../../core/measures/goodput.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { PhaseName } from '../../core/run/record.ts';
import { runEpoch, wallNow_ms, type RunEpoch } from '../bench/monotonic-clock.ts';
import type { RunObserver } from '../bench/observer.ts';
import { runBenchmark } from '../bench/run-benchmark.ts';
import type { RunControls } from '../bench/run-controls.ts';
import { RunRemarks } from '../bench/run-remarks.ts';
import { waysOf } from '../bench/round-robin-transport.ts';
import { boundYoungGeneration } from '../bench/young-generation.ts';
import { withRemedy } from '../bench/workers/slowness-remedy.ts';
import type { WorkerLoad } from '../bench/workers/worker-load.ts';
import { createLiveMetrics, type LiveMetrics } from '../publish/live-metrics.ts';
import { checkOutgoing, Outgoing } from '../publish/outgoing.ts';
import type { ServerLoadNow } from '../servers/load-now.ts';
import { RequestViewBuilder } from '../report/request-view.ts';
import type { RunStore } from '../store/run-store.ts';
import type { RunPlan, RunWriter } from '../store/run-writer.ts';
import { reasonOf } from '../store/store-errors.ts';
import { findServe, isDiscovered } from '../store/serve-presence.ts';
import { announcement } from './announcement.ts';
import { beginWorkers } from './begin-workers.ts';
import { LivePublication } from './live-publication.ts';
import { writeRunFiles } from './run-files.ts';
import { openStoreWithReports } from './open-store.ts';
import { plannedBenchmark } from './planned-benchmark.ts';
import { plannedLoad } from './planned-load.ts';
import { prepareTraffic } from './prepared-traffic.ts';
import { budgetNotes, measureSeconds, phaseWindows, unsentNotes } from './phase-facts.ts';
import { probedForm } from './probed-form.ts';
import { runFile, runPlan, type RunFacts } from './run-plan.ts';
import type { RunRequest } from './run-request.ts';
import { neededWorkers } from './needed-workers.ts';
import { resetCaches } from './reset-kv-cache.ts';
import { recognisedAt } from './recognised-targets.ts';
import { beginServerCollection, type ServerCollection } from './server-collection.ts';
import { checkStart, measureStart_ns, shardLine } from './start-instant.ts';

/** What the caller is told while a run is prepared and goes on, and what it may watch. */
export interface RunReporter {
  say(line: string): void;
  /** Called once, when the run's clock begins; what it gives watches the run. `servers` tells what the servers hold. */
  observe(epoch: RunEpoch, servers: () => ServerLoadNow | null): RunObserver & { stop(): void };
}

export interface PerformedRun {
  readonly result: ResultFile;
  readonly failure: string | null;
  readonly path: string;
  readonly notes: readonly string[];
}

/**
 * A whole run: probe, run directory, live metrics, benchmark, result, and the wait until the last values were scraped.
 * Throws `ProbeError`, `RunsDirectoryError`, `ListenError` or `ConfigurationError` before anything is sent or written, and `RunNotStoredError`,
 * which holds the result, when the disk fails at the end.
 */
export async function performRun(
  request: RunRequest,
  controls: RunControls,
  reporter: RunReporter,
  version: string,
): Promise<PerformedRun> {
  checkStart(request.shard, new Date());
  await checkOutgoing(request.outgoing ?? null, process.env);
  const { workers: count, line } = neededWorkers(request);
  if (line !== null) reporter.say(line);
  // They read their input while this thread reads its own and asks the server.
  const workers = count > 1 ? beginWorkers(request, count) : null;
  const young = workers === null ? boundYoungGeneration() : null;
  try {
    const { store, messages } = await openStoreWithReports(request.runsDirectory);
    messages.forEach((message) => reporter.say(message));
    await store.checkWritable();
    return await performPreparedRun({ request, controls, reporter, version, store, workers });
  } finally {
    young?.stop();
    await workers?.close();
  }
}

interface PreparedRun {
  readonly request: RunRequest;
  readonly controls: RunControls;
  readonly reporter: RunReporter;
  readonly version: string;
  readonly store: RunStore;
  /** Null: this thread makes the load. */
  readonly workers: WorkerLoad | null;
}

async function performPreparedRun(run: PreparedRun): Promise<PerformedRun> {
  const { request, controls, reporter } = run;
  const { target, targets, transport, form: given, secrets } = await prepareTraffic(request, process.env);
  try {
    const planned = plannedLoad(request, given.dataset);
    reporter.say(announcement(request, targets.map(({ origin }) => origin).join(', '), planned));
    if (request.shard !== null) reporter.say(shardLine(request.shard, new Date()));
    const form = await probedForm(
      { ...given, dataset: planned.dataset },
      { request, targets, secrets, transport, controls, say: (line) => reporter.say(line) },
    );
    return await performProbedRun({ ...run, target, targets, transport, form, planned, secrets });
  } finally {
    await transport.close();
  }
}

interface ProbedRun extends PreparedRun, RunFacts {
  readonly secrets: readonly string[];
}

async function performProbedRun(run: ProbedRun): Promise<PerformedRun> {
  const epoch = runEpoch();
  await run.workers?.begin({ epoch_ns: epoch.monotonic_ns, includeUsage: run.form.options.includeUsage });
  // Behind a unix socket the origin is only a name.
  const origins = run.request.traffic.connection.unixSocket === null ? run.targets.map(({ origin }) => origin) : [];
  const servers = await beginServerCollection(run.request.serverMetrics, origins, epoch, (line) =>
    run.reporter.say(line),
  );
  try {
    const recognised = servers?.recognised ?? (await recognisedAt(origins));
    await emptyCaches(run, recognised.system);
    const plan = runPlan(run, epoch, recognised.system);
    const goodput = plan.gates?.goodput ?? [];
    const isGood = goodput.length > 0 ? { isGood: goodRequest(goodput) } : {};
    const live = createLiveMetrics({ run: runFile(plan), version: run.version, ...isGood });
    const outgoing = await openOutgoing(run, plan, live, epoch);
    try {
      const publication = await livePublication(run, plan, live);
      try {
        const { urls } = recognised;
        return await performPublishedRun({ ...run, epoch, plan, live, publication, outgoing, servers, urls });
      } finally {
        await publication?.close();
      }
    } finally {
      await outgoing.close();
    }
  } finally {
    await servers?.stop();
  }
}

/** After the probe, which filled them a little. */
async function emptyCaches(
  { request, targets, transport, form, reporter }: ProbedRun,
  system: string | null,
): Promise<void> {
  if (request.cacheReset == null) return;
  const ways = waysOf(transport);
  const servers = targets.map((target, i) => ({ target, transport: ways[i] ?? transport }));
  await resetCaches(request.cacheReset, system, servers, form.headers);
  reporter.say(`the ${servers.length > 1 ? `caches of ${servers.length} servers were` : "server's cache was"} emptied`);
}

interface PublishedRun extends ProbedRun {
  readonly epoch: RunEpoch;
  readonly plan: RunPlan;
  readonly live: LiveMetrics;
  readonly publication: LivePublication | null;
  readonly outgoing: Outgoing;
  readonly servers: ServerCollection | null;
  /** The pages of the servers that others may read too. */
  readonly urls: readonly string[];
}

async function performPublishedRun(run: PublishedRun): Promise<PerformedRun> {
  const { controls, reporter, transport, epoch, plan, live, publication, outgoing, servers } = run;
  const writer = await run.store.begin(plan, {
    metrics_url: publication?.metricsUrl ?? null,
    server_metrics_urls: [...run.urls],
  });
  const watcher = reporter.observe(epoch, () => servers?.loadNow() ?? null);
  const remarks = new RunRemarks(run.form.endpoint.generates);
  const observers: RunObserver[] = [live, writer, watcher, remarks, ...outgoing.observers];
  outgoing.begin();
  const beforePhase = async (phase: PhaseName): Promise<void> => {
    if (servers === null) return;
    await servers.beforePhase(phase, controls.draining);
    // A page that came late, or that turned out to be elsewhere.
    const { urls } = servers.recognised;
    if (urls.join() !== run.urls.join()) await keepUrls(writer, urls, reporter);
  };
  const { form, planned, secrets, workers } = run;
  const parts = { form, planned, secrets, measureStart_ns: measureStart_ns(run.request.shard, epoch) };
  const outcome = await runBenchmark(plannedBenchmark(run.request, parts), {
    transport,
    observers,
    controls,
    epoch,
    beforePhase,
    ...(workers === null ? {} : { generator: workers.lead({ observers, controls }) }),
  }).finally(() => watcher.stop());
  live.clientSaturated(outcome.health.verdict === 'saturated');
  outgoing.end();
  const collected = (await servers?.finish(outcome.phases)) ?? null;
  const serverNotes = (await collected?.store(run.store.directory, plan.run_id, `llmbench ${run.version}`)) ?? [];
  const view = new RequestViewBuilder();
  const result = await writer.complete({
    status: outcome.status,
    failure: outcome.failure,
    phases: phaseWindows(outcome.phases, plan.start),
    health: withRemedy(outcome.health, {
      workers: workers?.workers ?? 1,
      cores: availableParallelism(),
      seconds: measureSeconds(outcome.phases),
    }),
    ...(collected === null ? {} : { servers: collected.result, serverTotals: collected.totals }),
    end: new Date().toISOString(),
    reader: view,
  });
  const outgoingNotes = await outgoing.finish(controls.draining.aborted);
  // Whoever ended the run early does not want to wait for a scraper that has not come yet.
  const awaited = !controls.draining.aborted && (await isDiscovered(run.request.runsDirectory));
  await publication?.untilFetched(awaited, controls.aborting);
  await writer.publish();
  const fileNotes = await writeRunFiles(run.store, plan.run_id, run.request.exports, () => view.view());
  return {
    result,
    failure: outcome.failure,
    path: writer.path,
    notes: [
      ...writer.notes,
      ...budgetNotes(outcome.phases),
      ...unsentNotes(outcome.phases),
      ...remarks.lines(),
      ...serverNotes,
      ...outgoingNotes,
      ...fileNotes,
    ],
  };
}

/** A disk that fails now does not end the run: who finds the servers by the run is only told too little. */
async function keepUrls(writer: RunWriter, urls: readonly string[], reporter: RunReporter): Promise<void> {
  try {
    await writer.update({ server_metrics_urls: [...urls] });
  } catch (error) {
    reporter.say(`run.json could not be kept up to date: ${reasonOf(error)}`);
  }
}

/** Live metrics are served when a port was named, or when a `serve` watches the directory and lists them. */
async function livePublication(
  { request, reporter, version }: ProbedRun,
  plan: RunPlan,
  live: LiveMetrics,
): Promise<LivePublication | null> {
  // One publisher at a time: a Prometheus that is sent the run must not scrape it too.
  if (request.metricsPort === null && (request.outgoing?.remoteWrite ?? null) !== null) return null;
  if (request.metricsPort === null && (await findServe(request.runsDirectory)) === null) {
    if (isFirstOfGroup(request)) reporter.say(NOT_SERVED);
    return null;
  }
  const publication = await LivePublication.open(live, {
    plan,
    version,
    host: request.metricsHost,
    port: request.metricsPort ?? 0,
    lingerMaxSeconds: request.lingerMaxSeconds,
    say: (line) => reporter.say(line),
  });
  reporter.say(`live metrics at ${publication.metricsUrl}`);
  return publication;
}

/** What concerns all runs of a command is said once. */
const isFirstOfGroup = ({ group }: RunRequest): boolean => (group?.step ?? 0) === 0 && (group?.repeat ?? 0) === 0;

function openOutgoing(
  { request, version, store }: ProbedRun,
  plan: RunPlan,
  { families }: LiveMetrics,
  epoch: RunEpoch,
): Promise<Outgoing> {
  return Outgoing.open({
    ...{ request: request.outgoing ?? null, environment: process.env, runsDirectory: store.directory },
    ...{ run: runFile(plan), families, isWhole: request.shard === null, version },
    now_ms: () => wallNow_ms(epoch),
  });
}

const NOT_SERVED =
  'live metrics are not served, so Prometheus will not have this run while it lasts: ' +
  'start `llmbench serve` on the same runs directory, or give --metrics-port';
