import { systemsOfNames, FamilyIndex } from '../../../catalog/lookup.ts';
import { catalogs } from '../../../catalog/load.ts';
import {
  createScrapeParser,
  isLabelName,
  isMetricName,
  metadataLines,
  pageType,
  sampleLines,
  type SampleInput,
} from '../../../core/exposition/index.ts';
import { TargetStore } from '../../servers/series/target-store.ts';
import { isObject } from '../reading/fields.ts';
import type { ReadTarget } from '../servers-of-stores.ts';

/** AIPerf's default; the files do not report. */
export const AIPERF_INTERVAL_NS = 333e6;

/** The scrapes of one target, in the order of time, as ours. */
export class KeptScrapes {
  readonly #store: TargetStore;
  readonly #parser = createScrapeParser();
  readonly #pages: ScrapePages;

  constructor(pages: ScrapePages, limits?: ConstructorParameters<typeof TargetStore>[0]) {
    this.#pages = pages;
    this.#store = new TargetStore(limits);
  }

  /** Adds a scrape; false when another server responded at the address. */
  record(
    at_ns: number,
    metrics: Readonly<Record<string, unknown>>,
    { sent_ns = at_ns, duration_ns = 0 }: { readonly sent_ns?: number; readonly duration_ns?: number } = {},
  ): boolean {
    const times = { at_ns, sent_ns, duration_ns, interval_ns: AIPERF_INTERVAL_NS, edge: false };
    const page = new TextEncoder().encode(this.#pages.page(metrics));
    return this.#store.recordPage(times, this.#parser.parse(page, 'text/plain'), false);
  }

  finish(): ReadTarget {
    const names = new Set(this.#store.series.map(({ family }) => family.name));
    return { store: this.#store, system: systemsOfNames(names)[0] ?? null };
  }
}

/** A metric in the summary of the server metrics. */
export interface MetricFacts {
  readonly type: string | null;
  readonly description: string | null;
}

let index: FamilyIndex | null = null;

/**
 * Writes a scrape as AIPerf keeps it (`{name: [{labels, value} | {labels, buckets, sum, count}]}`) as the page that it
 * was of, so that it is read like any other. AIPerf takes `_total` from the names of counters: it is put back where the
 * catalogs have it, and where no catalog knows the counter. Types come from the summary, else from the catalogs, else
 * from what the samples are.
 */
export class ScrapePages {
  readonly #facts: ReadonlyMap<string, MetricFacts>;
  readonly #heads = new Map<string, { readonly name: string; readonly text: string }>();

  constructor(facts: ReadonlyMap<string, MetricFacts>) {
    this.#facts = facts;
  }

  page(metrics: Readonly<Record<string, unknown>>): string {
    let page = '';
    for (const [metric, samples] of Object.entries(metrics)) {
      if (!Array.isArray(samples) || !isMetricName(metric)) continue;
      const { name, text } = this.#head(metric, samples);
      page +=
        text + sampleLines({ name, samples: samples.filter(isObject).flatMap((sample) => samplesOf(name, sample)) });
    }
    return page;
  }

  #head(metric: string, samples: readonly unknown[]): { readonly name: string; readonly text: string } {
    const known = this.#heads.get(metric);
    if (known !== undefined) return known;
    index ??= new FamilyIndex(catalogs());
    const family = index.find(metric)[0]?.family ?? null;
    const facts = this.#facts.get(metric);
    const isHistogram = samples.some((sample) => isObject(sample) && isObject(sample['buckets']));
    const type = isHistogram ? 'histogram' : (facts?.type ?? family?.type ?? 'unknown');
    const name = type === 'counter' ? counterName(metric, family?.name ?? null) : metric;
    const metadata = { name, help: facts?.description ?? '', type: pageType(type) };
    const head = { name, text: metadataLines(metadata, 'text') };
    this.#heads.set(metric, head);
    return head;
  }
}

function counterName(metric: string, cataloged: string | null): string {
  if (cataloged !== null) return cataloged;
  return metric.endsWith('_total') ? metric : `${metric}_total`;
}

function samplesOf(name: string, sample: Readonly<Record<string, unknown>>): SampleInput[] {
  const labels = labelsOf(sample['labels']);
  const { value, buckets, sum, count, histogram } = sample;
  // The earliest form had a histogram's members under a separate key.
  const nested = isObject(histogram) ? samplesOf(name, { labels: sample['labels'], ...histogram }) : [];
  const plain = typeof value === 'number' ? [{ labels, value }] : [];
  if (!isObject(buckets)) return [...nested, ...plain];
  const of = (suffix: string, value: unknown, own = {}): SampleInput[] =>
    typeof value === 'number' ? [{ metricName: name + suffix, sharedLabels: labels, labels: own, value }] : [];
  return [
    ...nested,
    ...plain,
    ...Object.entries(buckets).flatMap(([le, n]) => of('_bucket', n, { le })),
    ...of('_sum', sum),
    ...of('_count', count),
  ];
}

function labelsOf(labels: unknown): Readonly<Record<string, string>> {
  if (!isObject(labels)) return {};
  const legal = Object.entries(labels).filter(([name]) => isLabelName(name));
  return Object.fromEntries(legal.map(([name, value]) => [name, String(value)]));
}
