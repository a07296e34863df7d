import { extname } from 'node:path';
import { quantity } from '../../core/text/quantities.ts';
import { boundYoungGeneration } from '../load/client/young-generation.ts';
import { limitsOutput } from '../load/endpoints/endpoint.ts';
import type { RequestTarget } from '../load/transports/target.ts';
import { WorkerLoad } from '../load/workers/worker-load.ts';
import { checkOutgoing } from '../publish/outgoing.ts';
import { checkStart, joinOthers, shardLine } from './common-start.ts';
import { readMetricsPages } from './metrics-pages.ts';
import { openStoreWithReports } from './open-store.ts';
import { announcement, neededWorkers, plannedLoad } from './planned-load.ts';
import { prepareTraffic } from './prepared-traffic.ts';
import { probedForm } from './probed-form.ts';
import type { PreparedRun, RequestedRun } from './run-context.ts';
import type { RunRequest } from './run-request.ts';

/** Opens what the run requires and sends the probe. Throws before the first request of the run: see `performRun`. */
export async function prepareRun(run: RequestedRun): Promise<PreparedRun> {
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
