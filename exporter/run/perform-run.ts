import { goodRequest } from '../../core/measures/goodput.ts';
import { createRunId } from '../../core/run/run-id.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { PhaseName } from '../../core/run/record.ts';
import type { PhaseWindow } from '../../core/run/run.ts';
import { instantAt } from '../../core/run/instant.ts';
import type { BenchmarkPlan } from '../bench/benchmark-plan.ts';
import { DEFAULT_MAX_CONSECUTIVE_ERRORS } from '../bench/benchmark-plan.ts';
import { runEpoch, type RunEpoch } from '../bench/monotonic-clock.ts';
import type { RunObserver } from '../bench/observer.ts';
import type { RequestForm } from '../bench/request-feed.ts';
import { runBenchmark, type BenchmarkOutcome } from '../bench/run-benchmark.ts';
import type { RunControls } from '../bench/run-controls.ts';
import { RunRemarks } from '../bench/run-remarks.ts';
import type { Target } from '../bench/target.ts';
import type { Transport } from '../bench/transport.ts';
import { createLiveMetrics, type LiveMetrics } from '../publish/live-metrics.ts';
import type { ServerLoadNow } from '../servers/load-now.ts';
import { fingerprint } from '../store/fingerprint.ts';
import { openStore, type RunStore } from '../store/run-store.ts';
import type { RunPlan, RunWriter } from '../store/run-writer.ts';
import { reasonOf } from '../store/store-errors.ts';
import { findServe, isDiscovered } from '../store/serve-presence.ts';
import { announcement } from './announcement.ts';
import { comparisonKey } from './comparison-key.ts';
import { LivePublication } from './live-publication.ts';
import { writeRunFiles } from './run-files.ts';
import { plannedLoad, type PlannedLoad } from './planned-load.ts';
import { prepareTraffic } from './prepared-traffic.ts';
import { probedForm } from './probed-form.ts';
import type { RunRequest } from './run-request.ts';
import { recognisedAt } from './recognised-targets.ts';
import { beginServerCollection, type ServerCollection } from './server-collection.ts';

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
  const { store, messages } = await openStore(request.runsDirectory);
  messages.forEach((message) => reporter.say(message));
  await store.checkWritable();
  const { target, transport, form: given, secrets } = await prepareTraffic(request, process.env);
  try {
    const planned = plannedLoad(request, given.dataset);
    reporter.say(announcement(request, target.origin, planned));
    const form = await probedForm(
      { ...given, dataset: planned.dataset },
      { request, target, secrets, transport, controls, say: (line) => reporter.say(line) },
    );
    return await performProbedRun({
      request,
      controls,
      reporter,
      version,
      target,
      store,
      transport,
      form,
      planned,
      secrets,
    });
  } finally {
    await transport.close();
  }
}

interface ProbedRun {
  readonly request: RunRequest;
  readonly controls: RunControls;
  readonly reporter: RunReporter;
  readonly version: string;
  readonly target: Target;
  readonly store: RunStore;
  readonly transport: Transport;
  readonly form: RequestForm;
  readonly planned: PlannedLoad;
  readonly secrets: readonly string[];
}

async function performProbedRun(run: ProbedRun): Promise<PerformedRun> {
  const epoch = runEpoch();
  // Behind a unix socket the origin is only a name.
  const origin = run.request.traffic.connection.unixSocket === null ? run.target.origin : null;
  const servers = await beginServerCollection(run.request.serverMetrics, origin, epoch, (line) =>
    run.reporter.say(line),
  );
  try {
    const recognised = servers?.recognised ?? (await recognisedAt(origin));
    const plan = runPlan(run, epoch, recognised.system);
    const goodput = plan.gates?.goodput ?? [];
    const isGood = goodput.length > 0 ? { isGood: goodRequest(goodput) } : {};
    const live = createLiveMetrics({ run: runFile(plan), version: run.version, ...isGood });
    const publication = await livePublication(run, plan, live);
    try {
      return await performPublishedRun({ ...run, epoch, plan, live, publication, servers, urls: recognised.urls });
    } finally {
      await publication?.close();
    }
  } finally {
    await servers?.stop();
  }
}

interface PublishedRun extends ProbedRun {
  readonly epoch: RunEpoch;
  readonly plan: RunPlan;
  readonly live: LiveMetrics;
  readonly publication: LivePublication | null;
  readonly servers: ServerCollection | null;
  /** The pages of the servers that others may read too. */
  readonly urls: readonly string[];
}

async function performPublishedRun(run: PublishedRun): Promise<PerformedRun> {
  const { controls, reporter, transport, epoch, plan, live, publication, servers } = run;
  const writer = await run.store.begin(plan, {
    metrics_url: publication?.metricsUrl ?? null,
    server_metrics_urls: [...run.urls],
  });
  const watcher = reporter.observe(epoch, () => servers?.loadNow() ?? null);
  const remarks = new RunRemarks(run.form.endpoint.generates);
  const observers: RunObserver[] = [live, writer, watcher, remarks];
  const beforePhase = async (phase: PhaseName): Promise<void> => {
    if (servers === null) return;
    await servers.beforePhase(phase, controls.draining);
    // A page that came late, or that turned out to be elsewhere.
    const { urls } = servers.recognised;
    if (urls.join() !== run.urls.join()) await keepUrls(writer, urls, reporter);
  };
  const outcome = await runBenchmark(benchmarkPlan(run), {
    transport,
    observers,
    controls,
    epoch,
    beforePhase,
  }).finally(() => watcher.stop());
  live.clientSaturated(outcome.health.verdict === 'saturated');
  const collected = (await servers?.finish(outcome.phases)) ?? null;
  const serverNotes = (await collected?.store(run.store.directory, plan.run_id, `llmbench ${run.version}`)) ?? [];
  const result = await writer.complete({
    status: outcome.status,
    failure: outcome.failure,
    phases: phaseWindows(outcome, plan.start),
    health: outcome.health,
    ...(collected === null ? {} : { servers: collected.result }),
    end: new Date().toISOString(),
  });
  // Whoever ended the run early does not want to wait for a scraper that has not come yet.
  const awaited = !controls.draining.aborted && (await isDiscovered(run.request.runsDirectory));
  await publication?.untilFetched(awaited, controls.aborting);
  await writer.publish();
  const fileNotes = await writeRunFiles(run.store, plan.run_id, run.request.exports);
  return {
    result,
    failure: outcome.failure,
    path: writer.path,
    notes: [...writer.notes, ...unsentNotes(outcome), ...remarks.lines(), ...serverNotes, ...fileNotes],
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

function runPlan(
  { request, target, form, planned, version }: ProbedRun,
  epoch: RunEpoch,
  system: string | null,
): RunPlan {
  return {
    run_id: request.runId ?? createRunId(epoch.wall),
    scenario: request.scenario,
    comparison_key: comparisonKey(request, form.endpoint.type, planned, form.options.stream),
    gates: request.gates,
    ...(request.group ?? { group_id: null, step: null, repeat: null }),
    shard: '0',
    target: { origin: target.origin, system, system_version: null },
    tool: { name: 'llmbench', version },
    start: epoch.wall.toISOString(),
  };
}

const runFile = (plan: RunPlan) => ({
  ...plan,
  schema_version: 1 as const,
  status: 'running' as const,
  recovered: false,
  fingerprint: fingerprint(plan.comparison_key),
  end: null,
  phases: [],
  process: null,
  failure: null,
});

function benchmarkPlan({ request, form, planned, secrets }: ProbedRun): BenchmarkPlan {
  return {
    form,
    warmup: planned.warmup,
    measure: planned.measure,
    cancellation: request.cancellation && { ...request.cancellation, seed: request.seed },
    maxOutputTokensTotal: request.maxOutputTokensTotal,
    maxConsecutiveErrors: DEFAULT_MAX_CONSECUTIVE_ERRORS,
    failedRequestThreshold: request.failedRequestThreshold,
    secrets,
    requestTimeoutSeconds: request.requestTimeoutSeconds,
    idleTimeoutSeconds: 0,
  };
}

/** Live metrics are served when a port was named, or when a `serve` watches the directory and lists them. */
async function livePublication(
  { request, reporter, version }: ProbedRun,
  plan: RunPlan,
  live: LiveMetrics,
): Promise<LivePublication | null> {
  if (request.metricsPort === null && (await findServe(request.runsDirectory)) === null) {
    reporter.say(NOT_SERVED);
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

/** Requests that a limit kept from being sent are in no statistic: a reader must know of them. */
function unsentNotes({ phases }: BenchmarkOutcome): string[] {
  return phases.flatMap(({ phase, unsent }) =>
    unsent > 0
      ? [`${phase}: ${unsent} requests were due and found no free slot before the end; they were not sent`]
      : [],
  );
}

const NOT_SERVED =
  'live metrics are not served, so Prometheus will not have this run while it lasts: ' +
  'start `llmbench serve` on the same runs directory, or give --metrics-port';

function phaseWindows(outcome: BenchmarkOutcome, start: string | null): PhaseWindow[] {
  return outcome.phases.map(({ phase, start_ns, end_ns }) => ({
    phase,
    start: start_ns === null ? null : instantAt(start, start_ns),
    end: end_ns === null ? null : instantAt(start, end_ns),
  }));
}
