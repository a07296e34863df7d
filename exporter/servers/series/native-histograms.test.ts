import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { afterEach, describe, expect, test } from '@jest/globals';
import { parseExposition } from '../../../core/exposition/index.ts';
import { percentile } from '../../../core/stats/percentiles.ts';
import { PageClient, DEFAULT_PAGE_LIMITS } from '../scrape/page-request.ts';
import { PageReader } from '../scrape/page-reader.ts';
import type { HistogramStatistics } from '../../../core/run/servers-file.ts';
import { TargetStore } from './target-store.ts';
import { parseTarget } from '../scrape/targets.ts';
import { find, whole } from '../testing/find-series.ts';
import { metricsServer, page } from '../testing/metrics-server.ts';

const PROTOBUF = 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited';
const fixture = (name: string): Uint8Array =>
  readFileSync(new URL(`../../../core/exposition/protobuf/fixtures/${name}`, import.meta.url));
/** What client_golang observed: 40 values before each of its three scrapes, the last of a coarser schema. */
const VALUES = JSON.parse(new TextDecoder().decode(fixture('limited-values.json'))) as number[];
const SCRAPES = [1, 2, 3].map((n) => fixture(`limited-${n}.pb`));

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

function replayed(...scrapes: readonly (number | null)[]): TargetStore {
  const store = new TargetStore();
  for (const [i, scrape] of scrapes.entries()) {
    const times = { sent_ns: i * 1e9, at_ns: i * 1e9, duration_ns: 1e6, interval_ns: 1e9, edge: false };
    const bytes = scrape === null ? new Uint8Array(0) : (SCRAPES[scrape - 1] ?? new Uint8Array(0));
    store.recordPage(times, parseExposition(bytes, PROTOBUF), false);
  }
  return store;
}

function statistics(store: TargetStore): HistogramStatistics {
  const [found, ...others] = whole(store, 'latency_seconds');
  if (found?.kind !== 'histogram' || others.length > 0) throw new Error('not one histogram');
  return found;
}

describe('statistics of a native histogram', () => {
  test('count, mean, and percentiles with bounds that hold the true ones', () => {
    const between = VALUES.slice(40, 120);
    const { count, mean, resets, percentiles } = statistics(replayed(1, 2, 3));
    expect({ count, resets }).toEqual({ count: 80, resets: 0 });
    expect(mean).toBeCloseTo(between.reduce((sum, value) => sum + value, 0) / 80, 9);
    const sorted = Float64Array.from(between).sort();
    for (const [name, q] of [
      ['p50', 0.5],
      ['p90', 0.9],
      ['p99', 0.99],
    ] as const) {
      const { estimate, bounds } = percentiles?.[name] ?? { estimate: null, bounds: null };
      const [low, high] = [bounds?.[0] ?? NaN, bounds?.[1] ?? NaN];
      expect(percentile(sorted, q)).toBeGreaterThan(low);
      expect(percentile(sorted, q)).toBeLessThanOrEqual(high);
      expect(estimate).toBeGreaterThanOrEqual(low);
      expect(estimate).toBeLessThanOrEqual(high);
      // One bucket of schema 1, or two when the rank lies between them; empty ones may lie in between.
      expect(high / low).toBeLessThanOrEqual(name === 'p50' ? 2.001 : 8);
    }
  });

  test('a restarted process counts from 0', () => {
    expect(statistics(replayed(2, 3, 1))).toMatchObject({ count: 40 + 40, resets: 1 });
  });

  test('a series born on a known target counts from 0, an absence does not end it', () => {
    expect(statistics(replayed(null, 1, null, 2))).toMatchObject({ count: 80, resets: 0 });
  });

  test('an unchanged page stores nothing more', () => {
    expect(find(replayed(1, 1, 1), 'latency_seconds')[0]?.changes).toBe(1);
  });

  test('classic buckets, when present, are used, as from the text format', () => {
    const store = new TargetStore();
    const times = { sent_ns: 0, at_ns: 0, duration_ns: 1, interval_ns: 1, edge: false };
    store.recordPage(times, parseExposition(fixture('page.pb'), PROTOBUF), false);
    expect(find(store, 'both_seconds')).toHaveLength(1);
    expect(find(store, 'both_seconds')[0]).toMatchObject({ boundTexts: ['0.1', '1', '+Inf'] });
    expect(find(store, 'native_seconds')).toHaveLength(2);
    expect(find(store, 'gauge_histogram')).toEqual([]);
  });
});

describe('the requested format', () => {
  const NATIVE = '# TYPE h histogram\nh_bucket{le="+Inf"} 2\nh_sum 3\nh_count 2\n';
  const CLASSIC = NATIVE.replace('h_bucket', 'h_bucket{le="1"} 1\nh_bucket');
  const protobuf = (response: ServerResponse, bytes: Uint8Array): void => {
    response.writeHead(200, { 'content-type': PROTOBUF });
    response.end(bytes);
  };

  async function asked(
    reads: number,
    answer: (response: ServerResponse, wantsProtobuf: boolean) => void,
  ): Promise<{ formats: string[]; outcomes: string[] }> {
    const formats: string[] = [];
    const server = await metricsServer((request, response) => {
      const wantsProtobuf = (request.headers.accept ?? '').startsWith('application/vnd.google.protobuf');
      formats.push(wantsProtobuf ? 'protobuf' : 'text');
      answer(response, wantsProtobuf);
    });
    const client = new PageClient(DEFAULT_PAGE_LIMITS, () => performance.now() * 1e6);
    cleanUp.push(
      () => server.close(),
      () => client.close(),
    );
    const reader = new PageReader(parseTarget(server.origin), client);
    const outcomes: string[] = [];
    for (let i = 0; i < reads; i++) {
      const outcome = await reader.read();
      outcomes.push(outcome.kind === 'read' ? outcome.exposition.format : outcome.kind);
    }
    return { formats, outcomes };
  }

  test('text, as long as it contains everything', async () => {
    expect(await asked(2, (response) => page(response, CLASSIC))).toMatchObject({ formats: ['text', 'text'] });
  });

  test('protobuf, starting with the first page that has a native histogram', async () => {
    const answer = (response: ServerResponse, wantsProtobuf: boolean): void =>
      wantsProtobuf ? protobuf(response, SCRAPES[0] ?? new Uint8Array(0)) : page(response, NATIVE);
    expect(await asked(2, answer)).toEqual({
      formats: ['text', 'protobuf', 'protobuf'],
      outcomes: ['protobuf', 'protobuf'],
    });
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['does not support it', (response) => page(response, NATIVE)],
    ['rejects it', (response) => void response.writeHead(406).end()],
    ['responds with garbage', (response) => protobuf(response, Uint8Array.of(1, 2, 3))],
  ])('once, from a server that %s', async (_, inProtobuf) => {
    const answer = (response: ServerResponse, wantsProtobuf: boolean): void =>
      wantsProtobuf ? inProtobuf(response) : page(response, NATIVE);
    expect(await asked(3, answer)).toEqual({
      formats: ['text', 'protobuf', 'text', 'text'],
      outcomes: ['text-0.0.4', 'text-0.0.4', 'text-0.0.4'],
    });
  });

  test('a lost connection is a failed scrape, and the next scrape retries', async () => {
    let lost = 0;
    const answer = (response: ServerResponse, wantsProtobuf: boolean): void => {
      if (!wantsProtobuf) page(response, NATIVE);
      else if (lost++ === 0) response.writeHead(200, { 'content-length': '9' }).write('x', () => response.destroy());
      else protobuf(response, SCRAPES[0] ?? new Uint8Array(0));
    };
    expect((await asked(2, answer)).outcomes).toEqual(['failed', 'protobuf']);
  });
});
