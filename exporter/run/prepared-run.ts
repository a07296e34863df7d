import type { RunObserver } from '../../core/run/run-observer.ts';
import { quantity } from '../../core/text/quantities.ts';
import type { RunEpoch } from '../clock/monotonic-clock.ts';
import { limitsOutput } from '../load/endpoints/endpoint.ts';
import { boundYoungGeneration } from '../load/client/young-generation.ts';
import type { RunControls } from '../load/phases/run-controls.ts';
import type { WorkerLoad } from '../load/workers/worker-load.ts';
import { checkOutgoing } from '../publish/outgoing.ts';
import type { ServePage } from '../publish/served-page.ts';
import type { ServerLoadNow } from '../servers/summary/load-now.ts';
import type { RunStore } from '../store/run-store.ts';
import type { Rendezvous } from '../store/shards/rendezvous.ts';
import type { RequestTarget } from '../load/transports/target.ts';
import { announcement } from './announcement.ts';
import type { Closers } from './closers.ts';
import { beginWorkers, neededWorkers } from './needed-workers.ts';
import { readMetricsPages, type MetricsPages } from './metrics-pages.ts';
import { openStoreWithReports } from './open-store.ts';
import { plannedLoad } from './planned-load.ts';
import { prepareTraffic } from './prepared-traffic.ts';
import { probedForm } from './probed-form.ts';
import type { RunFacts } from './run-plan.ts';
import type { RunRequest } from './run-request.ts';
import { checkStart, shardLine } from './start-instant.ts';

/** What a run requires from the program that performs it. */
export interface RunHost {
  /** Shows a line to the user. */
  say(line: string): void;
  /** Shows a line for debugging; absent: such lines are not wanted. */
  readonly explain?: (line: string) => void;
  /**
   * Called once, when the run's clock starts, for an observer of the run. `servers`: the current load of the servers.
   */
  observe(epoch: RunEpoch, servers: () => ServerLoadNow | null): RunObserver & { stop(): void };
  readonly servePage: ServePage;
  /** Where this machine meets the others that measure the same run; null or absent: it does not. */
  readonly rendezvous?: Rendezvous | null;
}

export interface RequestedRun {
  readonly request: RunRequest;
  readonly controls: RunControls;
  readonly host: RunHost;
  readonly version: string;
}

/** A run whose servers have responded to the probe. */
export interface PreparedRun extends RequestedRun, RunFacts {
  readonly store: RunStore;
  /** Texts that no message may contain. */
  readonly secrets: readonly string[];
  /** Null: this thread generates the load. */
  readonly workers: WorkerLoad | null;
  readonly pages: MetricsPages;
}

/** Clocks that differ by less are not mentioned. */
const SMALL_CORRECTION_MS = 50;

async function joinOthers(host: RunHost): Promise<void> {
  const rendezvous = host.rendezvous ?? null;
  if (rendezvous === null) return;
  await rendezvous.join();
  const { correction_ms } = rendezvous;
  if (Math.abs(correction_ms) < SMALL_CORRECTION_MS) return;
  const seconds = Math.abs(correction_ms / 1000).toFixed(1);
  const direction = correction_ms > 0 ? 'behind' : 'ahead of';
  host.say(`the clock of this machine is ${seconds} s ${direction} that of object storage, which the run uses`);
}

/** A proxy is part of every latency. */
function proxyLines(targets: readonly RequestTarget[]): readonly string[] {
  const names = new Set(targets.flatMap(({ proxy }) => proxy?.name ?? []));
  return [...names].map(
    (name) => `requests go through the proxy ${name}, and latencies include it; --no-proxy connects directly`,
  );
}

/** Opens what the run requires and sends the probe. Throws before the first request of the run: see `performRun`. */
export async function prepareRun(run: RequestedRun, closers: Closers): Promise<PreparedRun> {
  const { request, controls, host } = run;
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
