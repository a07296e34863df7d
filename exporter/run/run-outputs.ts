import { goodRequest } from '../../core/measures/goodput.ts';
import type { RunEvents, RunEnding, RunOutput } from '../../core/run/run-output.ts';
import { wallNow_ms } from '../clock/monotonic-clock.ts';
import { createLiveMetrics, type LiveMetrics } from '../publish/live-metrics.ts';
import { Outgoing } from '../publish/outgoing.ts';
import type { ServedPage } from '../publish/served-page.ts';
import type { ScrapedTarget } from '../publish/target-info.ts';
import { RequestViewBuilder } from '../report/request-view.ts';
import { findServe, isDiscovered } from '../store/recovery/serve-presence.ts';
import type { RunPlan, RunWriter } from '../store/run-writer.ts';
import type { RunContext, RunHost } from './run-context.ts';
import { writeRunFiles } from './run-files.ts';
import { runFile } from './run-plan.ts';
import type { RunRequest } from './run-request.ts';

interface LivePart {
  readonly live: LiveMetrics;
  /** Null: the live metrics are not served. */
  readonly page: ServedPage | null;
}

/** The destinations of one run's measurements. */
export class RunOutputs {
  readonly writer: RunWriter;
  /** Collects the records while the run is stored, so that the report does not have to read them again. */
  readonly view: RequestViewBuilder;
  /** Those who get the events of the run. */
  readonly receivers: readonly RunEvents[];
  readonly #outputs: readonly RunOutput[];
  readonly #live: LiveMetrics;
  /** Null: the live metrics are not served. */
  readonly page: ServedPage | null;
  #isDeparting = false;

  private constructor(
    outputs: readonly RunOutput[],
    parts: Pick<RunOutputs, 'writer' | 'view' | 'receivers'> & LivePart,
  ) {
    const { writer, view, receivers, live, page } = parts;
    this.#outputs = outputs;
    this.#live = live;
    this.page = page;
    this.writer = writer;
    this.view = view;
    this.receivers = receivers;
  }

  /** Opens all outputs and creates the run's directory. */
  static async open(run: RunContext): Promise<RunOutputs> {
    const { request, plan, store, recognized, closers } = run;
    const live = liveMetrics(run);
    live.targetsRead(recognized.read);
    const outgoing = await openOutgoing(run, live);
    closers.add(() => outgoing.close());
    const page = await openPage(run, live);
    let opened: RunOutputs | null = null;
    closers.add(() => (opened === null ? page?.close?.() : opened.#closeUnlessDeparting()));
    const writer = await store.begin(plan, {
      metrics_url: page?.metricsUrl ?? null,
      server_metrics_urls: [...recognized.urls],
    });
    const view = new RequestViewBuilder();
    const outputs: RunOutput[] = [
      live,
      outgoing,
      { finish: () => writeRunFiles(store.unfinished, plan.run_id, request.exports, () => view.view()) },
      ...(page === null ? [] : [page]),
      // After the page has said that it still serves the run: finished runs have another publisher.
      { finish: () => publish(writer, run) },
    ];
    const receivers = [live, ...outgoing.receivers, writer];
    opened = new RunOutputs(outputs, { writer, view, receivers, live, page });
    return opened;
  }

  /** Which metrics pages have been read so far: a page may appear late. */
  targetsRead(targets: readonly ScrapedTarget[]): void {
    this.#live.targetsRead(targets);
  }

  begin(): void {
    for (const output of this.#outputs) output.begin?.();
  }

  end(saturated: boolean): void {
    for (const output of this.#outputs) output.end?.(saturated);
  }

  /** Ends with the publishing of the run. Throws `RunNotStoredError`. */
  async finish(ending: RunEnding): Promise<readonly string[]> {
    const lines: string[] = [];
    for (const output of this.#outputs) lines.push(...((await output.finish?.(ending)) ?? []));
    return lines;
  }

  /** Waits for the scrapers; to be called once, after `finish`. */
  depart(ending: RunEnding): Promise<readonly string[]> {
    this.#isDeparting = true;
    // Without `this`, so that the requests of a run that waits are not kept in memory.
    return departed(
      this.#outputs.filter((output) => output.depart !== undefined),
      ending,
    );
  }

  /** A run that departs outlives what measured it. */
  async #closeUnlessDeparting(): Promise<void> {
    if (!this.#isDeparting) await this.page?.close?.();
  }
}

async function publish(writer: RunWriter, { request, store, plan }: RunContext): Promise<readonly string[]> {
  await writer.publish();
  await request.stored?.(store.directory, plan.run_id);
  return [];
}

async function departed(outputs: readonly RunOutput[], ending: RunEnding): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const output of outputs) lines.push(...((await output.depart?.(ending)) ?? []));
  return lines;
}

function liveMetrics({ plan, version, servers, planned }: RunContext): LiveMetrics {
  const goodput = plan.gates?.goodput ?? [];
  return createLiveMetrics({
    run: runFile(plan),
    version,
    hasConversations: planned.dataset.conversation !== undefined,
    ...(goodput.length > 0 ? { isGood: goodRequest(goodput) } : {}),
    ...(servers === null ? {} : { respondingTargets: () => servers.responding }),
  });
}

function openOutgoing(
  { request, plan, store, epoch, version, host }: RunContext,
  live: LiveMetrics,
): Promise<Outgoing> {
  return Outgoing.open({
    request: request.outgoing ?? null,
    environment: process.env,
    runsDirectory: store.directory,
    run: runFile(plan),
    families: live.families,
    isWhole: request.shard === null,
    version,
    say: (line) => host.say(line),
    now_ms: () => wallNow_ms(epoch),
  });
}

async function openPage({ request, plan, version, host }: RunContext, live: LiveMetrics): Promise<ServedPage | null> {
  // Only one publisher at a time: a Prometheus that receives the run by remote write must not scrape it too.
  if (request.metricsPort === null && (request.outgoing?.remoteWrite ?? null) !== null) return null;
  return openLivePage(request, plan, live, version, host);
}

/** How the live metrics of a run are served. */
export type LivePageRequest = Pick<
  RunRequest,
  'metricsPort' | 'metricsHost' | 'allowedHosts' | 'lingerMaxSeconds' | 'runsDirectory'
> &
  Partial<Pick<RunRequest, 'group'>>;

/** Live metrics are served when a port is set, or when a `serve` process watches the directory and lists them; else null. */
export async function openLivePage(
  request: LivePageRequest,
  { run_id: runId, scenario }: Pick<RunPlan, 'run_id' | 'scenario'>,
  live: LiveMetrics,
  version: string,
  host: Pick<RunHost, 'say' | 'servePage'>,
): Promise<ServedPage | null> {
  const { metricsPort, runsDirectory } = request;
  if (metricsPort === null && (await findServe(runsDirectory)) === null) {
    if (isFirstOfGroup(request)) host.say(NOT_SERVED);
    return null;
  }
  const page = await host.servePage(live, {
    ...{ runId, scenario, runsDirectory, version },
    host: request.metricsHost,
    allowedHosts: request.allowedHosts,
    port: metricsPort ?? 0,
    lingerMaxSeconds: request.lingerMaxSeconds,
    say: (line) => host.say(line),
  });
  host.say(`live metrics at ${page.metricsUrl}`);
  return page;
}

/** Conditions that apply to all runs of a command are reported once. */
const isFirstOfGroup = ({ group }: Partial<Pick<RunRequest, 'group'>>): boolean =>
  (group?.step ?? 0) === 0 && (group?.repeat ?? 0) === 0;

const NOT_SERVED =
  'live metrics are not served, so Prometheus cannot scrape this run while it lasts: ' +
  'start `llmbench serve` on the same runs directory, or set --metrics-port';

/** The shipped configuration discovers runs every 5 s and scrapes them every 2 s. */
const LIMIT_SECONDS = 20;

/** Of a run that is about to send its first request. */
interface AwaitedRun {
  readonly request: Pick<RunRequest, 'awaitScrape' | 'runsDirectory' | 'metricsPort' | 'shard'> &
    Partial<Pick<RunRequest, 'group'>>;
  readonly outputs: { readonly page: ServedPage | null };
  /** The pages that the discovery lists with the run. */
  readonly servers: { readonly recognized: { readonly urls: readonly string[] } } | null;
  readonly host: { say(line: string): void };
  readonly controls: { readonly draining: AbortSignal };
}

/**
 * Waits until a Prometheus that is expected has scraped the live metrics: what it has not seen at 0 is missing from its
 * increases and rates.
 */
export async function awaitScrape({ request, outputs, servers, host, controls }: AwaitedRun): Promise<void> {
  const { page } = outputs;
  if (page === null || request.awaitScrape !== true) return;
  const discovered = await isDiscovered(request.runsDirectory);
  // A port of its own choice is in no static configuration.
  if (!discovered && (request.metricsPort ?? 0) === 0) return;
  const startAt_ms = request.shard?.startAt_ms ?? Infinity;
  const remaining_seconds = (startAt_ms - Date.now()) / 1000;
  const limit_seconds = Math.min(LIMIT_SECONDS, Math.max(0, remaining_seconds));
  // Servers are discovered together with the run: each has been scraped when the run is scraped again.
  const times = discovered && (servers?.recognized.urls.length ?? 0) > 0 ? 2 : 1;
  const isFirst = isFirstOfGroup(request);
  if (isFirst) {
    const what = times === 2 ? 'the live metrics and the servers' : 'the live metrics';
    host.say(
      `waiting until ${what} are scraped, at most ${Math.round(limit_seconds)} s; --no-await-scrape starts at once`,
    );
  }
  if ((await page.scraped(times, limit_seconds, controls.draining)) || controls.draining.aborted || !isFirst) return;
  host.say(`not scraped within ${Math.round(limit_seconds)} s: Prometheus will lack the beginning of the run`);
}
