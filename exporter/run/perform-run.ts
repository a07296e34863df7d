import { extname } from 'node:path';
import { availableParallelism } from 'node:os';
import { instantAt, type PhaseWindow } from '../../core/run/run.ts';
import type { Provenance } from '../../core/run/provenance.ts';
import type { LoadPhase } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import { promptTokens } from '../../core/run/run-dataset.ts';
import type { PlannedReuse } from '../../core/measures/scalar-results.ts';
import { quantity, things } from '../../core/text/quantities.ts';
import { correctedEpoch } from '../clock/monotonic-clock.ts';
import { reasonOf } from '../errors/expected-error.ts';
import { boundYoungGeneration } from '../load/client/young-generation.ts';
import { DEFAULT_CACHE_BLOCK_TOKENS, possibleReuse } from '../load/datasets/prefix-reuse.ts';
import { limitsOutput } from '../load/endpoints/endpoint.ts';
import type { PhaseResult } from '../load/load-generator.ts';
import type { RunControls } from '../load/phases/run-controls.ts';
import { RunRemarks, type PlannedPrompt } from '../load/phases/run-remarks.ts';
import { allFindings, findingLines, impossibleCounts } from '../load/responses/response-findings.ts';
import { runBenchmark, type BenchmarkOutcome } from '../load/run-benchmark.ts';
import { waysOf } from '../load/transports/open-transport.ts';
import type { RequestTarget } from '../load/transports/target.ts';
import { withRemedy } from '../load/workers/choose-workers.ts';
import { WorkerLoad } from '../load/workers/worker-load.ts';
import { NOTHING_STATED } from '../provenance/provenance-request.ts';
import { readProvenance } from '../provenance/read-provenance.ts';
import { checkOutgoing } from '../publish/outgoing.ts';
import { checkStart, joinOthers, shardLine, agreedStart, measureStart_ns } from './common-start.ts';
import { readMetricsPages, recognizedAt } from './metrics-pages.ts';
import { openStoreWithReports } from './open-store.ts';
import { announcement, neededWorkers, plannedLoad, plannedBenchmark } from './planned-load.ts';
import { prepareTraffic } from './prepared-traffic.ts';
import { probedForm } from './probed-form.ts';
import { resetCaches } from './reset-kv-cache.ts';
import { Closers, type PreparedRun, type RequestedRun, type RunContext, type RunHost } from './run-context.ts';
import { awaitScrape, RunOutputs } from './run-outputs.ts';
import { runPlan } from './run-plan.ts';
import type { RunRequest } from './run-request.ts';
import { beginServerCollection, type ServerCollection } from './server-collection.ts';

/** Opens what the run requires and sends the probe. Throws before the first request of the run: see `performRun`. */
async function prepareRun(run: RequestedRun): Promise<PreparedRun> {
  const { request, controls, host, closers } = run;
  checkStart(request.shard, new Date());
  await checkOutgoing(request.outgoing ?? null, process.env);
  const { workers: count, line } = neededWorkers(request);
  if (line !== null) host.say(line);
  // Workers read their input while this thread reads its own and sends the probe.
  const workers = count > 1 ? beginWorkers(request, count) : null;
  closers.add(() => workers?.close());
  const young = workers === null ? boundYoungGeneration() : null;
  closers.add(() => young?.stop());
  const { store, messages } = await openStoreWithReports(request.runsDirectory);
  for (const message of messages) host.say(message);
  await store.checkWritable();
  host.explain?.(`runs directory ${store.directory} is writable`);
  const { form: given, ...traffic } = await prepareTraffic(request, process.env);
  closers.add(() => traffic.transport.close());
  const origins = traffic.targets.map(({ origin }) => origin);
  const pages = await readMetricsPages(request, traffic.targets, process.env, (line) => host.say(line));
  host.explain?.(
    `metrics pages named: ${pages.named.length}; servers whose pages are looked for: ${pages.origins.join(', ') || 'none'}`,
  );
  const planned = plannedLoad(request, given.dataset);
  for (const note of given.dataset.notes ?? []) host.say(note);
  host.say(announcement(request, origins.join(', '), planned, limitsOutput(given.endpoint, given.options)));
  for (const line of proxyLines(traffic.targets)) host.say(line);
  if (request.shard !== null) host.say(shardLine(request.shard, new Date()));
  await joinOthers(host);
  host.explain?.(`probe request to ${origins.join(', ')}`);
  const sent = performance.now();
  const form = await probedForm(
    { ...given, dataset: planned.dataset },
    { request, ...traffic, controls, say: (text) => host.say(text) },
  );
  const seconds = (performance.now() - sent) / 1000;
  const { stream, includeUsage } = form.options;
  host.explain?.(
    `the probe was answered after ${quantity(seconds, 'seconds')}: ${stream === false ? 'not a stream' : 'a stream'}, ${includeUsage ? 'with' : 'without'} usage`,
  );
  return { ...run, ...traffic, form, planned, pages, store, workers };
}

/** Starts workers for a run; each reads the request's files itself. */
function beginWorkers(request: RunRequest, workers: number): WorkerLoad {
  // The entry is a source file in a checkout and compiled in a package: it has the extension of this file.
  const entry = new URL(`./load-worker${extname(import.meta.url)}`, import.meta.url);
  return new WorkerLoad(entry, { ...request, serverMetrics: null, objectives: null } satisfies RunRequest, workers);
}

/** A proxy is part of every latency. */
function proxyLines(targets: readonly RequestTarget[]): readonly string[] {
  const names = new Set(targets.flatMap(({ proxy }) => proxy?.name ?? []));
  return [...names].map(
    (name) => `requests go through the proxy ${name}, and latencies include it; --no-proxy connects directly`,
  );
}

export interface PerformedRun {
  readonly result: ResultFile;
  readonly failure: string | null;
  readonly path: string;
  readonly notes: readonly string[];
}

/** A run that is published, while its scrapers may lack its last values. */
export interface DepartingRun extends PerformedRun {
  /** Resolves with lines for the user when its live metrics are no longer served. */
  readonly departure: Promise<readonly string[]>;
}

/** A whole run, to the end of its departure. Throws as `measureRun`. */
export async function performRun(
  request: RunRequest,
  controls: RunControls,
  host: RunHost,
  version: string,
): Promise<PerformedRun> {
  const { departure, ...performed } = await measureRun(request, controls, host, version);
  return { ...performed, notes: [...performed.notes, ...(await departure)] };
}

/**
 * A run until it is published: probe, run directory, live metrics, benchmark, result. The wait until the last values were
 * scraped has begun when it returns.
 * Throws `ProbeError`, `RunsDirectoryError`, `ListenError` or `ConfigurationError` before any request or file of the
 * run, and `RunNotStoredError`, which contains the result, when writing fails at the end.
 */
export async function measureRun(
  request: RunRequest,
  controls: RunControls,
  host: RunHost,
  version: string,
): Promise<DepartingRun> {
  const closers = new Closers();
  try {
    const run = await openRun(await prepareRun({ request, controls, host, version, closers }));
    return await finishRun(run, await measure(run));
  } finally {
    await closers.close();
  }
}

/** The run is about to send its first request. */
interface OpenRun extends RunContext {
  readonly outputs: RunOutputs;
  readonly remarks: RunRemarks;
}

async function openRun(run: PreparedRun): Promise<OpenRun> {
  const { request, host, form, pages, closers } = run;
  const epoch = correctedEpoch(host.rendezvous?.correction_ms ?? 0);
  const { includeUsage, lengthField } = form.options;
  await run.workers?.begin({ epoch_ns: epoch.monotonic_ns, includeUsage, lengthField });
  const say = (line: string): void => host.say(line);
  const servers = await beginServerCollection(request.serverMetrics, pages, epoch, say, async () => {
    await probedForm(form, { ...run, say: () => undefined });
  });
  closers.add(() => servers?.stop());
  const recognized = servers?.recognized ?? (await recognizedAt(pages.origins, pages.access));
  const { system } = recognized;
  await emptyCaches(run, system);
  const plan = runPlan(run, epoch, { system, provenance: await provenanceOf(run, system, servers) });
  const opening = { ...run, epoch, servers, recognized, plan };
  const outputs = await RunOutputs.open(opening);
  return { ...opening, outputs, remarks: new RunRemarks(form.endpoint.generates, plannedPrompt(run)) };
}

function provenanceOf(
  { request, targets, transport, form, pages, ...run }: PreparedRun,
  system: string | null,
  collection: ServerCollection | null,
): Promise<Provenance> {
  const { model, stated = NOTHING_STATED } = request;
  const ways = waysOf(transport);
  const servers = targets.map(({ origin, proxy }, i) => ({
    ...{ origin, transport: ways[i] ?? transport },
    ...(proxy === undefined ? {} : { proxy: proxy.name }),
  }));
  const series = collection?.info ?? [];
  // Also of the metrics pages: the user's own facts may repeat them.
  const access = [pages.access, ...pages.named.flatMap((page) => page.access ?? [])];
  const secrets = [...run.secrets, ...access.flatMap(({ headers }) => Object.values(headers).map(bareValue))];
  return readProvenance({ system, model, headers: form.headers, servers, series, secrets }, stated, process.env);
}

const bareValue = (header: string): string => header.replace(/^(?:Bearer|Basic)\s+/i, '');

function plannedPrompt({ dataset }: PreparedRun): PlannedPrompt | null {
  const tokens = promptTokens(dataset);
  return tokens && { tokens, hasTokenizer: dataset.tokenizer !== null };
}

/** After the probe, which put its prompt into the caches. */
async function emptyCaches(
  { request, targets, transport, form, host, secrets }: PreparedRun,
  system: string | null,
): Promise<void> {
  if (request.cacheReset == null) return;
  const ways = waysOf(transport);
  const servers = targets.map((target, i) => ({ target, transport: ways[i] ?? transport }));
  await resetCaches(request.cacheReset, system, servers, { headers: form.headers, secrets });
  host.say(`reset ${servers.length > 1 ? `the caches of ${servers.length} servers` : "the server's cache"}`);
}

async function measure(run: OpenRun): Promise<BenchmarkOutcome> {
  const { request, controls, host, transport, epoch, servers, outputs, remarks, planned, workers } = run;
  await awaitScrape(run);
  const watcher = host.observe(epoch, () => servers?.loadNow() ?? null);
  const observers = [...outputs.receivers, watcher, remarks];
  outputs.begin();
  const start_ns = measureStart_ns(request.shard?.startAt_ms ?? null, epoch);
  const outcome = await runBenchmark(plannedBenchmark(request, run, planned, start_ns), {
    transport,
    observers,
    controls,
    epoch,
    ...agreedStart(run, pagesReadBefore(run)),
    ...(workers === null ? {} : { generator: workers.lead({ observers, controls }) }),
  }).finally(() => watcher.stop());
  outputs.end(outcome.health.verdict === 'saturated');
  return outcome;
}

/**
 * Reads the servers' pages before a phase. Their addresses in run.json follow, also during the phase: a page may appear late
 * or move, and servers that a search finds start and end.
 */
function pagesReadBefore({ servers, controls, outputs, host }: OpenRun): (phase: LoadPhase) => Promise<void> {
  if (servers === null) return () => Promise.resolve();
  let kept = servers.recognized.urls;
  const pagesRead = async (): Promise<void> => {
    const { urls, read } = servers.recognized;
    outputs.targetsRead(read);
    if (urls.join() === kept.join()) return;
    kept = urls;
    try {
      await outputs.writer.update({ server_metrics_urls: [...urls] });
    } catch (error) {
      // The run continues: only the discovery of its servers lacks an address.
      host.say(`run.json could not be updated: ${reasonOf(error)}`);
    }
  };
  servers.onChange(() => void pagesRead());
  return async (phase) => {
    await servers.beforePhase(phase, controls.draining);
    await pagesRead();
  };
}

async function finishRun(run: OpenRun, outcome: BenchmarkOutcome): Promise<DepartingRun> {
  const { controls, plan, store, servers, outputs, workers } = run;
  const { writer } = outputs;
  const collected = (await servers?.finish(outcome.phases, controls.draining)) ?? null;
  const serverNotes = (await collected?.store(store.directory, plan.run_id, `llmbench ${run.version}`)) ?? [];
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
    plannedReuse: plannedReuse(run, outcome.phases),
    end: new Date().toISOString(),
    reader: outputs.view,
  });
  const ending = { hurried: controls.interrupted, givenUp: controls.givenUp };
  const outputNotes = await outputs.finish(ending);
  const departure = outputs.depart(ending);
  // The caller that waits for it gets the error.
  departure.catch(() => undefined);
  const { phases, failure } = outcome;
  const notes = [
    ...writer.notes,
    ...budgetNotes(phases),
    ...unsentNotes(phases),
    ...findingLines(allFindings(phases)),
    ...run.remarks.lines(impossibleCounts(phases.find(({ phase }) => phase === 'measure')?.findings)),
  ];
  return { result, failure, path: writer.path, notes: [...notes, ...serverNotes, ...outputNotes], departure };
}

/** What the plan makes possible for prefix caches. The part of a run that one shard makes says nothing of the servers' caches. */
function plannedReuse({ request, planned, servers }: OpenRun, phases: readonly PhaseResult[]): PlannedReuse | null {
  if (request.shard !== null) return null;
  const sent = (phase: LoadPhase): number => phases.find((each) => each.phase === phase)?.positions ?? 0;
  const blockTokens = request.traffic.cacheBlockTokens ?? servers?.cacheBlockTokens ?? DEFAULT_CACHE_BLOCK_TOKENS;
  const reuse = possibleReuse(planned.dataset, { warmup: sent('warmup'), measure: sent('measure') }, blockTokens);
  return reuse && { ...reuse, blockTokens };
}

/** The edges of phases as wall time; `start` is that of the run. */
function phaseWindows(phases: readonly PhaseResult[], start: string | null): PhaseWindow[] {
  return phases.map(({ phase, start_ns, end_ns }) => ({
    phase,
    start: start_ns === null ? null : instantAt(start, start_ns),
    end: end_ns === null ? null : instantAt(start, end_ns),
  }));
}

/** Duration of the measure phase; null when it was not reached. */
function measureSeconds(phases: readonly PhaseResult[]): number | null {
  const measure = phases.find(({ phase }) => phase === 'measure');
  if (measure === undefined || measure.start_ns === null || measure.end_ns === null) return null;
  return (measure.end_ns - measure.start_ns) / 1e9;
}

/** A run that ended because its budget was used up completed as requested, with fewer requests than planned. */
function budgetNotes(phases: readonly PhaseResult[]): string[] {
  return phases.flatMap(({ phase, overBudget }) => (overBudget === null ? [] : [`${phase}: ${overBudget}`]));
}

/** Requests that a limit prevented from being sent are in no statistic and are reported separately. */
function unsentNotes(phases: readonly PhaseResult[]): string[] {
  return phases.flatMap(({ phase, unsent }) =>
    unsent > 0
      ? [`${phase}: ${things(unsent, 'requests')} were due but not sent: no slot was free before the end`]
      : [],
  );
}
