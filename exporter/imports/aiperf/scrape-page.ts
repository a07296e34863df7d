import { catalogs } from '../../../catalog/load.ts';
import { FamilyIndex } from '../../../catalog/lookup.ts';
import { isObject } from '../fields.ts';

/** What the summary of the server metrics says of a metric. */
export interface MetricFacts {
  readonly type: string | null;
  readonly description: string | null;
}

const PLAIN_TYPES: ReadonlySet<string> = new Set(['counter', 'gauge', 'histogram']);
const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

let index: FamilyIndex | null = null;

/**
 * Writes a scrape as AIPerf keeps it (`{name: [{labels, value} | {labels, buckets, sum, count}]}`) as the page that it was
 * of, so that it is read like any other. AIPerf takes `_total` from the names of counters: it is put back where the
 * catalogs have it, and where no catalog knows the counter. Types come from the summary, else from the catalogs, else from
 * what the samples are.
 */
export class ScrapePages {
  readonly #facts: ReadonlyMap<string, MetricFacts>;
  readonly #heads = new Map<string, { readonly name: string; readonly text: string }>();

  constructor(facts: ReadonlyMap<string, MetricFacts>) {
    this.#facts = facts;
  }

  page(metrics: Readonly<Record<string, unknown>>): string {
    const lines: string[] = [];
    for (const [metric, samples] of Object.entries(metrics)) {
      if (!Array.isArray(samples) || !METRIC_NAME.test(metric)) continue;
      const { name, text } = this.#head(metric, samples);
      lines.push(text);
      for (const sample of samples) if (isObject(sample)) pushSample(lines, name, sample);
    }
    return `${lines.join('\n')}\n`;
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
    const help = (facts?.description ?? '').replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
    const text = `# HELP ${name} ${help}\n# TYPE ${name} ${PLAIN_TYPES.has(type) ? type : 'untyped'}`;
    const head = { name, text };
    this.#heads.set(metric, head);
    return head;
  }
}

function counterName(metric: string, catalogued: string | null): string {
  if (catalogued !== null) return catalogued;
  return metric.endsWith('_total') ? metric : `${metric}_total`;
}

function pushSample(lines: string[], name: string, sample: Readonly<Record<string, unknown>>): void {
  const labels = Object.entries(isObject(sample['labels']) ? sample['labels'] : {});
  const { value, buckets, sum, count } = sample;
  // The earliest form had a histogram's members under a key of their own.
  if (isObject(sample['histogram'])) pushSample(lines, name, { labels: sample['labels'], ...sample['histogram'] });
  if (typeof value === 'number') lines.push(`${name}${labelText(labels)} ${value}`);
  if (isObject(buckets)) {
    for (const [le, n] of Object.entries(buckets)) {
      if (typeof n === 'number') lines.push(`${name}_bucket${labelText([...labels, ['le', le]])} ${n}`);
    }
    if (typeof sum === 'number') lines.push(`${name}_sum${labelText(labels)} ${sum}`);
    if (typeof count === 'number') lines.push(`${name}_count${labelText(labels)} ${count}`);
  }
}

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

function labelText(labels: readonly (readonly [string, unknown])[]): string {
  const pairs = labels.filter(([name]) => LABEL_NAME.test(name));
  if (pairs.length === 0) return '';
  const escaped = (value: unknown): string =>
    String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return `{${pairs.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')}}`;
}
