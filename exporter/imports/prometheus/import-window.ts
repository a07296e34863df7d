import { createHash } from 'node:crypto';
import { SERVER_MEAN, SERVER_RATE } from '../../../core/measures/foreign-definitions.ts';
import { quotient } from '../../../core/measures/scalar-measures.ts';
import { serverResults } from '../../../core/measures/scalar-results.ts';
import { quantileBounds } from '../../../core/histogram/bounds.ts';
import type { ClassicHistogram } from '../../../core/histogram/classic-histogram.ts';
import type { DistributionResult, MeasureResult, Percentile } from '../../../core/run/result.ts';
import { PERCENTILE_NAMES, PERCENTILES, type PercentileName } from '../../../core/stats/percentiles.ts';
import { quantity, things } from '../../../core/text/quantities.ts';
import { quantities } from '../../../catalog/equivalents.ts';
import { RunExistsError } from '../../errors/expected-error.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import { collectionOfStores, isUncertain, type Collection } from '../../servers/collection.ts';
import { windowOf } from '../../servers/series/statistics.ts';
import type { PageAccess } from '../../servers/scrape/targets.ts';
import { gained, observed } from '../../servers/summary/gained-quantities.ts';
import type { RunStore } from '../../store/run-store.ts';
import { ImportNotes, ImportRefusal } from '../import-notes.ts';
import { importedRunId, NOTHING_MEASURED, storeImport } from '../import-run.ts';
import { ALONE, reportedRun } from '../importer.ts';
import { serversOfRun } from '../servers-of-stores.ts';
import { statedDistribution, statedScalar } from '../stated/stated-measures.ts';
import { PrometheusSeries } from './prometheus-series.ts';
import { RecordedTargets, type RecordedTarget } from './recorded-targets.ts';

/** A window of the history that a Prometheus has of servers. */
export interface RecordedWindow {
  readonly url: string;
  readonly access: PageAccess;
  /** A series selector: `{job="vllm"}`. */
  readonly selector: string;
  readonly from: Date;
  readonly to: Date;
  readonly signal: AbortSignal;
}

export interface WindowImport extends RecordedWindow {
  /** Makes a run of each whole slice of this length instead of one of the window; they begin at multiples of it. Null: one. */
  readonly sliceSeconds: number | null;
  readonly store: RunStore;
  readonly scenario: string;
  readonly tags: readonly string[];
}

export interface ImportedWindow {
  readonly runId: string;
  readonly isNew: boolean;
  /** What a reader must know, one line each. */
  readonly notes: readonly string[];
}

/** Nothing was scraped of what a selector matches, such as a canary that is not deployed. */
export class NoSamples extends ImportRefusal {}

/** Before the window: the last scrape before its start, at the longest usual interval, is in it. */
const BEFORE_SECONDS = 300;
const MAX_TARGETS = 256;

/**
 * Makes runs of what a Prometheus recorded of servers in a window: the exact increases between the scrapes at their edges.
 * The same window is the same run in a scenario. Throws an `ImportRefusal`.
 */
export async function importWindow(request: WindowImport): Promise<readonly ImportedWindow[]> {
  const { store, sliceSeconds } = request;
  const slices = sliceSeconds === null ? [request] : slicesOf(request, sliceSeconds);
  const named = slices.map(({ from, to }) => ({ from, to, ...identityOf(request, from, to) }));
  const stored = new Set(await store.names());
  const missing = named.filter(({ runId }) => !stored.has(runId));
  const [first, last] = [missing[0], missing.at(-1)];
  if (first === undefined || last === undefined) return named.map(({ runId }) => ({ runId, isNew: false, notes: [] }));
  const notes = new ImportNotes();
  notes.add(`series ${request.selector} in ${publicUrl(request.url)}`);
  const [from, to] = [first.from, last.to];
  const targets = await recordedTargets({ ...request, from, to }, notes);
  const whole = collectionOf(targets, from, to);
  const imported = new Map<string, ImportedWindow>();
  for (const slice of missing) {
    const edges = [slice.from, slice.to].map((at) => (at.getTime() - from.getTime()) * 1e6) as [number, number];
    const collection = missing.length === 1 ? whole : within(whole, ...edges);
    imported.set(slice.runId, await importSlice(request, slice, targets, collection, notes.copy()));
  }
  return named.map(({ runId }) => imported.get(runId) ?? { runId, isNew: false, notes: [] });
}

interface NamedWindow extends Pick<RecordedWindow, 'from' | 'to'> {
  readonly runId: string;
  readonly sha256: string;
}

function identityOf(
  { url, selector, scenario }: WindowImport,
  from: Date,
  to: Date,
): Pick<NamedWindow, 'runId' | 'sha256'> {
  const start = from.toISOString();
  const identity = JSON.stringify([publicUrl(url), selector, start, to.toISOString(), scenario]);
  const sha256 = createHash('sha256').update(identity).digest('hex');
  return { runId: importedRunId(start, sha256), sha256 };
}

const MAX_SLICES = 1000;

/** The whole slices of a window, which begin at multiples of their length, so that those of two servers are of the same times. */
function slicesOf({ from, to }: RecordedWindow, seconds: number): readonly Pick<RecordedWindow, 'from' | 'to'>[] {
  const length = seconds * 1000;
  const first = Math.ceil(from.getTime() / length);
  const count = Math.floor(to.getTime() / length) - first;
  if (count < 1 || count > MAX_SLICES)
    throw new ImportRefusal(
      `the window has ${Math.max(0, count)} whole slices of ${quantity(seconds, 'seconds')}: 1 to ${MAX_SLICES} are imported`,
    );
  return Array.from({ length: count }, (_, i) => ({
    from: new Date((first + i) * length),
    to: new Date((first + i + 1) * length),
  }));
}

/** The same scrapes over a part of the window; nanoseconds since its start. */
export function within(whole: Collection, start_ns: number, end_ns: number): Collection {
  const window = { start_ns, end_ns };
  const targets = whole.targets.map((target) => ({ ...target, window: windowOf(target.store, window, end_ns) }));
  return { ...whole, window, settled_ns: end_ns, targets };
}

async function importSlice(
  { store, scenario, tags, sliceSeconds }: WindowImport,
  { from, to, runId, sha256 }: NamedWindow,
  targets: readonly RecordedTarget[],
  collection: Collection,
  notes: ImportNotes,
): Promise<ImportedWindow> {
  for (const target of targets) noteScrapes(target, collection, notes);
  for (const { name } of collection.targets.filter(isUncertain))
    notes.add(`the increases of ${name} are unknown: means and percentiles are without it, and rates are left out`);
  const model = onlyModel(targets);
  const system = targets.map((target) => target.system).find((known) => known !== null) ?? null;
  const run = reportedRun({
    ...{ tool: 'prometheus', format: 'prometheus-window', scenario, start: from.toISOString(), notes },
    target: { system },
    key: model === null ? {} : { model },
    stated: {
      window_start_ns: 0,
      window_seconds: (to.getTime() - from.getTime()) / 1000,
      measures: system === null ? [] : serverMeasures(collection, system),
    },
    servers: {
      forRun: () => {
        const servers = serversOfRun(collection, NOTHING_MEASURED);
        // Each slice would hold the samples of all.
        return sliceSeconds === null ? servers : { ...servers, writeSamples: null };
      },
    },
  });
  const source = { sha256, files: [], imported_at: new Date().toISOString(), position: 0 };
  try {
    await storeImport(store, run, { files: [], name: scenario, ...ALONE }, source, { tags });
  } catch (error) {
    if (error instanceof RunExistsError) return { runId, isNew: false, notes: [] };
    throw error;
  }
  return { runId, isNew: true, notes: notes.lines };
}

/** The model of all series that name one; null if they name several or none. */
function onlyModel(targets: readonly RecordedTarget[]): string | null {
  const labels = targets.flatMap(({ store }) => store.series.map((series) => series.labels));
  const models = new Set(labels.flatMap(({ model_name, model }) => model_name ?? model ?? []));
  const [only] = models;
  return models.size === 1 ? (only ?? null) : null;
}

/** The targets that were scraped, with their scrapes from before the window to its end. Throws an `ImportRefusal`. */
export async function recordedTargets(
  { url, access, selector, from, to, signal }: RecordedWindow,
  notes: ImportNotes,
): Promise<readonly RecordedTarget[]> {
  const api = new PrometheusSeries(url, access);
  try {
    const zero = from.getTime() / 1000;
    const recorded = new RecordedTargets(zero, await api.types());
    let unread = 0;
    for await (const stretch of api.stretches(selector, zero - BEFORE_SECONDS, to.getTime() / 1000, signal)) {
      recorded.add(stretch);
      unread = Math.max(unread, stretch.unread);
      if (recorded.size > MAX_TARGETS)
        throw new ImportRefusal(`${selector} matches more than ${MAX_TARGETS} targets: match fewer`);
    }
    if (unread > 0) notes.add(`${things(unread, 'series')} with histograms that are not understood are left out`);
    const targets = recorded.targets.filter(({ store }) => store.scrapes > 0);
    if (targets.length === 0)
      throw new NoSamples(`${selector} has no samples from ${from.toISOString()} to ${to.toISOString()}`);
    return targets;
  } finally {
    await api.close();
  }
}

/** What was collected of these targets in a window of their scrapes. */
export function collectionOf(targets: readonly RecordedTarget[], from: Date, to: Date): Collection {
  const window = { start_ns: 0, end_ns: (to.getTime() - from.getTime()) * 1e6 };
  const interval_ns = Math.max(...targets.map(({ recorded }) => recorded.interval)) * 1e9;
  return {
    ...collectionOfStores(
      targets.map(({ name, system, store }) => ({ name, system, store })),
      {
        ...{ window, interval_ns, definitions: 'llmbench', slice_ns: null },
        zeroWall_ns: BigInt(from.getTime()) * 1_000_000n,
      },
    ),
    settled_ns: window.end_ns,
  };
}

/** Notes how exactly the samples of a target cover the window. */
export function noteScrapes(
  { name, store, recorded }: RecordedTarget,
  { window }: Collection,
  notes: ImportNotes,
): void {
  const [first, last] = [store.lastOkAt(window.start_ns), store.lastOkAt(window.end_ns)];
  const seconds = (ns: number): string => quantity(ns / 1e9, 'seconds');
  const opening =
    first < 0
      ? 'first sample in the window: earlier values are unknown'
      : `first sample ${seconds(window.start_ns - store.at_ns(first))} before the window`;
  const closing = last < 0 ? 'no sample in it' : `last ${seconds(window.end_ns - store.at_ns(last))} before its end`;
  const { interval, gaps, longestGap, failed } = recorded;
  const lost = [
    ...(gaps === 0 ? [] : [`${things(gaps, 'gaps')} of up to ${quantity(longestGap, 'seconds')}`]),
    ...(failed === 0 ? [] : [`${things(failed, 'scrapes')} failed`]),
  ];
  notes.add([`${name}: scraped every ${quantity(interval, 'seconds')}`, opening, closing, ...lost].join(', '));
}

/**
 * What the servers' own histograms and counters say of the client's measures: exact means and rates, and the intervals that
 * are certain to contain the percentiles.
 */
export function serverMeasures(collection: Collection, system: string): MeasureResult[] {
  const seconds = (collection.window.end_ns - collection.window.start_ns) / 1e9;
  const distributions = quantities().flatMap(({ quantity: name, measure, kind }) => {
    const found = measure === undefined || kind !== 'histogram' ? null : observed(collection, name, system);
    if (measure === undefined || found === null) return [];
    const { count: n, mean, histogram } = found;
    const stated = statedDistribution({ measure, definition: SERVER_MEAN, origin: 'server' }, { n, mean });
    return [histogram === null ? stated : { ...stated, percentiles: percentilesOf(histogram) }];
  });
  // Without one of the servers a rate would be too low.
  const rates = (collection.targets.some(isUncertain) ? [] : RATES).flatMap(([name, measure]) => {
    const increase = gained(collection, name, system);
    const identity = { measure, definition: SERVER_RATE, origin: 'server' } as const;
    return increase === null ? [] : [statedScalar(identity, increase / seconds)];
  });
  const [cached, prompt] = ['cached_prompt_tokens_total', 'prompt_tokens_total'].map((name) =>
    gained(collection, name, system),
  );
  return [...distributions, ...rates, ...serverResults({ cachedInputRatio: quotient(cached ?? null, prompt ?? null) })];
}

function percentilesOf(histogram: ClassicHistogram): DistributionResult['percentiles'] {
  const entries = PERCENTILE_NAMES.map((name): [PercentileName, Percentile] => {
    const found = quantileBounds(PERCENTILES[name], histogram);
    const isKnown = found !== null && Number.isFinite(found.low) && Number.isFinite(found.high);
    return [name, { value: null, ci95: null, bounds: isKnown ? [found.low, found.high] : null }];
  });
  return Object.fromEntries(entries) as DistributionResult['percentiles'];
}

const RATES = [
  ['requests_finished_total', 'request_throughput'],
  ['prompt_tokens_total', 'input_token_throughput'],
  ['generation_tokens_total', 'output_token_throughput'],
] as const;
