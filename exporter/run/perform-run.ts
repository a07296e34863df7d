import { availableParallelism } from 'node:os';
import type { LoadPhase } from '../../core/run/record.ts';
import { promptTokens } from '../../core/run/run-dataset.ts';
import type { Provenance } from '../../core/run/provenance.ts';
import type { ResultFile } from '../../core/run/result.ts';
import { correctedEpoch, type RunEpoch } from '../clock/monotonic-clock.ts';
import { reasonOf } from '../errors/store-errors.ts';
import { allFindings, findingLines, impossibleCounts } from '../load/responses/response-findings.ts';
import type { RunControls } from '../load/phases/run-controls.ts';
import { RunRemarks, type PlannedPrompt } from '../load/phases/run-remarks.ts';
import { runBenchmark, type BenchmarkOutcome, type BenchmarkParts } from '../load/run-benchmark.ts';
import { waysOf } from '../load/transports/round-robin-transport.ts';
import { withRemedy } from '../load/workers/slowness-remedy.ts';
import { NOTHING_STATED } from '../provenance/provenance-request.ts';
import { readProvenance } from '../provenance/read-provenance.ts';
import { fingerprint } from '../store/fingerprint.ts';
import type { RunPlan } from '../store/run-writer.ts';
import { Closers } from './closers.ts';
import { budgetNotes, measureSeconds, phaseWindows, unsentNotes } from './phase-facts.ts';
import { plannedBenchmark } from './planned-benchmark.ts';
import { prepareRun, type PreparedRun, type RunHost } from './prepared-run.ts';
import { probedForm } from './probed-form.ts';
import { recognizedAt } from './recognized-targets.ts';
import { resetCaches } from './reset-kv-cache.ts';
import { RunOutputs } from './run-outputs.ts';
import { runPlan } from './run-plan.ts';
import type { RunRequest } from './run-request.ts';
import { beginServerCollection, type ServerCollection } from './server-collection.ts';
import { measureStart_ns } from './start-instant.ts';

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
    const prepared = await prepareRun({ request, controls, host, version }, closers);
    const run = await openRun(prepared, closers);
    return await finishRun(run, await measure(run));
  } finally {
    await closers.close();
  }
}

/** A run that is about to send its first request. */
interface OpenRun extends PreparedRun {
  readonly epoch: RunEpoch;
  readonly plan: RunPlan;
  readonly servers: ServerCollection | null;
  readonly outputs: RunOutputs;
  readonly remarks: RunRemarks;
}

async function openRun(run: PreparedRun, closers: Closers): Promise<OpenRun> {
  const { request, host, store, version, form, pages, targets, secrets, transport, controls } = run;
  const say = (line: string): void => host.say(line);
  const epoch = correctedEpoch(host.rendezvous?.correction_ms ?? 0);
  const { includeUsage, lengthField } = form.options;
  await run.workers?.begin({ epoch_ns: epoch.monotonic_ns, includeUsage, lengthField });
  const servers = await beginServerCollection(request.serverMetrics, pages, epoch, say, async () => {
    await probedForm(form, { request, targets, secrets, transport, controls, say: () => undefined });
  });
  closers.add(() => servers?.stop());
  const { system, urls, read } = servers?.recognized ?? (await recognizedAt(pages.origins, pages.access));
  await emptyCaches(run, system);
  const provenance = await provenanceOf(run, system, servers);
  const plan = runPlan(run, epoch, { system, provenance });
  const parts = {
    request,
    plan,
    store,
    epoch,
    version,
    serverUrls: urls,
    targets: read,
    servePage: host.servePage,
    say,
  };
  const outputs = await RunOutputs.open(parts, closers);
  return {
    ...run,
    epoch,
    plan,
    servers,
    outputs,
    remarks: new RunRemarks(form.endpoint.generates, plannedPrompt(run)),
  };
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
  const { request, controls, host, transport, epoch, servers, outputs, remarks, form, planned, secrets, workers } = run;
  const watcher = host.observe(epoch, () => servers?.loadNow() ?? null);
  const observers = [...outputs.observers, watcher, remarks];
  outputs.begin();
  const startAt_ms = request.shard?.startAt_ms ?? null;
  const parts = { form, planned, secrets, measureStart_ns: measureStart_ns(startAt_ms, epoch) };
  const outcome = await runBenchmark(plannedBenchmark(request, parts), {
    transport,
    observers,
    controls,
    epoch,
    ...agreedStart(run),
    ...(workers === null ? {} : { generator: workers.lead({ observers, controls }) }),
  }).finally(() => watcher.stop());
  outputs.end(outcome.health.verdict === 'saturated');
  return outcome;
}

/** What happens between the phases, where shards without a given start agree on one before the measurement. */
function agreedStart(run: OpenRun): Pick<BenchmarkParts, 'beforePhase' | 'agreeStart_ns'> {
  const readPages = pagesReadBefore(run);
  const { host, request, plan, controls, epoch } = run;
  const rendezvous = host.rendezvous ?? null;
  if (rendezvous === null || request.shard?.startAt_ms != null) return { beforePhase: readPages };
  return {
    beforePhase: async (phase) => {
      if (phase === 'measure') await rendezvous.gather(fingerprint(plan.comparison_key), controls.draining);
      // Now no shard sends any more requests of the warm-up.
      await readPages(phase);
    },
    agreeStart_ns: async () => {
      const start_ms = await rendezvous.start_ms(controls.draining);
      if (start_ms !== null) host.say(`all shards start to measure at ${new Date(start_ms).toISOString()}`);
      return measureStart_ns(start_ms, epoch);
    },
  };
}

/** Reads the servers' pages before a phase, and updates their addresses in run.json: a page may appear late or move. */
function pagesReadBefore({ servers, controls, outputs, host }: OpenRun): (phase: LoadPhase) => Promise<void> {
  if (servers === null) return () => Promise.resolve();
  let kept = servers.recognized.urls;
  return async (phase) => {
    await servers.beforePhase(phase, controls.draining);
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
