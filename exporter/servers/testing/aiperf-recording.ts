import { createScrapeParser } from '../../../core/exposition/index.ts';
import { TargetStore } from '../series/target-store.ts';
import { captureText } from '../../../fixtures/captures.ts';

interface AiperfSample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value?: number;
  readonly buckets?: Readonly<Record<string, number>>;
  readonly sum?: number;
  readonly count?: number;
}

interface AiperfScrape {
  readonly endpoint_url: string;
  readonly timestamp_ns: bigint;
  readonly request_sent_ns: bigint;
  readonly endpoint_latency_ns: number;
  readonly metrics: Readonly<Record<string, readonly AiperfSample[]>>;
}

export interface AiperfSeries {
  readonly endpoint_url: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly stats: Readonly<Record<string, number>>;
  readonly buckets?: Readonly<Record<string, number>>;
  readonly timeslices?: readonly (Readonly<Record<string, unknown>> & {
    readonly start_ns: bigint;
    readonly end_ns: bigint;
    readonly is_complete?: boolean;
  })[];
}

export interface AiperfMetric {
  readonly type: string;
  readonly description: string;
  readonly unit?: string;
  readonly series: readonly AiperfSeries[];
}

export interface AiperfExport {
  readonly summary: {
    readonly phase_time_ranges: { readonly profiling: { readonly start_ns: bigint; readonly end_ns: bigint } };
  };
  readonly metrics: Readonly<Record<string, AiperfMetric>>;
}

/** Wall times exceed the precision of a number: they are read as bigints. */
function parse(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && /^\d{16,}$/.test(context?.source ?? '') ? BigInt(context?.source ?? 0) : value,
  );
}

export function aiperfExport(run: string): AiperfExport {
  return parse(captureText(`dynamo/${run}/aiperf-server-metrics/server_metrics_export.json.gz`)) as AiperfExport;
}

/** AIPerf's own scrapes as the collector would have stored them; times are nanoseconds since `zero_ns`. */
export function aiperfScrapes(run: string, types: AiperfExport, zero_ns: bigint): Map<string, TargetStore> {
  const stores = new Map<string, TargetStore>();
  const parsers = new Map<string, ReturnType<typeof createScrapeParser>>();
  const lines = captureText(`dynamo/${run}/aiperf-server-metrics/server_metrics_export.jsonl.gz`).split('\n');
  for (const line of lines.filter((text) => text !== '')) {
    const scrape = parse(line) as AiperfScrape;
    const url = scrape.endpoint_url;
    const store = stores.get(url) ?? new TargetStore();
    const parser = parsers.get(url) ?? createScrapeParser();
    stores.set(url, store);
    parsers.set(url, parser);
    const times = {
      sent_ns: Number(scrape.request_sent_ns - zero_ns),
      at_ns: Number(scrape.timestamp_ns - zero_ns),
      duration_ns: scrape.endpoint_latency_ns,
      interval_ns: 333e6,
      edge: false,
    };
    store.recordPage(times, parser.parse(new TextEncoder().encode(pageOf(scrape, types)), 'text/plain'), false);
  }
  return stores;
}

function pageOf(scrape: AiperfScrape, types: AiperfExport): string {
  const lines: string[] = [];
  for (const [name, samples] of Object.entries(scrape.metrics)) {
    const help = types.metrics[name]?.description.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
    lines.push(`# HELP ${name} ${help ?? ''}`);
    lines.push(`# TYPE ${name} ${types.metrics[name]?.type ?? 'untyped'}`);
    for (const { labels = {}, value, buckets = {}, sum, count } of samples) {
      const text = (more: Record<string, string> = {}): string =>
        `{${Object.entries({ ...labels, ...more })
          .map(([label, each]) => `${label}=${JSON.stringify(each)}`)
          .join(',')}}`;
      if (value !== undefined) lines.push(`${name}${text()} ${value}`);
      for (const [le, n] of Object.entries(buckets)) lines.push(`${name}_bucket${text({ le })} ${n}`);
      if (sum !== undefined) lines.push(`${name}_sum${text()} ${sum}`);
      if (count !== undefined) lines.push(`${name}_count${text()} ${count}`);
    }
  }
  return `${lines.join('\n')}\n`;
}
