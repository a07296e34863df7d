import { describe, expect, test } from '@jest/globals';
import { createScrapeParser } from '../../../core/exposition/index.ts';
import { aiperfStatistics } from './aiperf-statistics.ts';
import { seriesKey } from '../series/page-series.ts';
import { seriesStatistics, windowOf } from '../series/statistics.ts';
import { aiperfExport, aiperfScrapes, type AiperfSeries } from '../testing/aiperf-recording.ts';
import { find } from '../testing/find-series.ts';
import { pagesOf, replay } from '../testing/replay.ts';

const SLICE_NS = 2e9;
const PARSER = createScrapeParser();

/** AIPerf's numbers are 64-bit floats, as ours; only the order of additions differs. */
const CLOSE = 1e-11;

function expectClose(ours: unknown, theirs: unknown, what: string): void {
  const [a, b] = [Number(ours), Number(theirs)];
  if (!(a === b || Math.abs(a - b) <= CLOSE * Math.max(Math.abs(a), Math.abs(b)))) {
    throw new Error(`${what}: ${String(ours)} is not AIPerf's ${String(theirs)}`);
  }
}

const RUNS: [string, number][] = [
  ['a-steady-c8', 5],
  ['b-steady-c32', 0],
  ['d-nostream-c8', 1],
];

describe.each(RUNS)('AIPerf on its own scrapes of %s', (run, estimatesOutside) => {
  const reference = aiperfExport(run);
  const { start_ns: zero, end_ns } = reference.summary.phase_time_ranges.profiling;
  const window = { start_ns: 0, end_ns: Number(end_ns - zero) };
  const stores = aiperfScrapes(run, reference, zero);
  const all = Object.entries(reference.metrics).flatMap(([name, metric]) =>
    metric.series.map((series) => ({ name, type: metric.type, series })),
  );

  const own = ({ name, series }: { name: string; series: AiperfSeries }) => {
    const store = stores.get(series.endpoint_url);
    const found = store?.series.find(
      (each) => seriesKey(each.family.name, each.labels) === seriesKey(name, series.labels ?? {}),
    );
    if (store === undefined || found === undefined) throw new Error(`${name} is missing`);
    return { store, found };
  };

  test('counters, gauges, counts, sums, means, rates and slices are the same', () => {
    for (const each of all) {
      const { store, found } = own(each);
      const statistics = aiperfStatistics(found, store, window, SLICE_NS);
      for (const [name, value] of Object.entries(each.series.stats)) {
        if (!name.endsWith('_estimate')) expectClose(statistics?.stats[name], value, `${each.name} ${name}`);
      }
      for (const [le, count] of Object.entries(each.series.buckets ?? {})) {
        expectClose(Object.fromEntries(statistics?.buckets ?? [])[le], count, `${each.name} ${le}`);
      }
      const slices = each.series.timeslices ?? [];
      expect(statistics?.timeslices).toHaveLength(slices.length);
      slices.forEach(({ start_ns, end_ns, is_complete, buckets, ...stats }, i) => {
        const ours = statistics?.timeslices[i];
        expect(ours).toMatchObject({ start_ns: Number(start_ns - zero), end_ns: Number(end_ns - zero) });
        expect(ours?.complete).toBe(is_complete !== false);
        for (const [name, value] of Object.entries(stats))
          expectClose(ours?.stats[name], value, `${each.name} ${name}`);
        for (const [le, count] of Object.entries(buckets ?? {}))
          expectClose(Object.fromEntries(ours?.buckets ?? [])[le], count, each.name);
      });
    }
    expect(all).toHaveLength(198);
  });

  test("a few of AIPerf's percentile estimates lie outside the interval of its own buckets", () => {
    let checked = 0;
    let outside = 0;
    for (const each of all.filter(({ type }) => type === 'histogram')) {
      const { store, found } = own(each);
      const settled = store.at_ns(store.scrapes - 1);
      const statistics = seriesStatistics(found, store, windowOf(store, window, settled));
      if (statistics.kind !== 'histogram' || statistics.percentiles === null) continue;
      for (const [name, { bounds }] of Object.entries(statistics.percentiles)) {
        const estimate = each.series.stats[`${name}_estimate`];
        if (estimate === undefined || bounds === null) continue;
        checked += 1;
        if (estimate < (bounds[0] ?? -Infinity) || estimate > (bounds[1] ?? Infinity)) outside += 1;
      }
    }
    expect({ checked, outside }).toEqual({ checked: 351, outside: estimatesOutside });
  });
});

describe('where the definitions differ by design', () => {
  const counter = (value: number): string => `# TYPE x_total counter\nx_total ${value}`;
  const window = { start_ns: 1.5e9, end_ns: 4e9 };
  const both = (store: ReturnType<typeof replay>) => {
    const [series] = find(store, 'x_total');
    if (series === undefined) throw new Error('no series');
    return {
      theirs: aiperfStatistics(series, store, window, null)?.stats['total'],
      ours: seriesStatistics(series, store, windowOf(store, window, window.end_ns)),
    };
  };

  test('a reset: AIPerf loses what came before it', () => {
    const { theirs, ours } = both(replay(pagesOf(counter(0), counter(100), counter(150), counter(30), counter(70))));
    expect(theirs).toBe(0);
    expect(ours).toMatchObject({ increase: 50 + 30 + 40, resets: 1 });
  });

  test('a series born in the window: AIPerf takes the first value as the reference', () => {
    const { theirs, ours } = both(replay(pagesOf('up 1', 'up 1', counter(8), counter(9), counter(12))));
    expect(theirs).toBe(4);
    expect(ours).toMatchObject({ increase: 12, resets: 0 });
  });

  test('a rate: AIPerf divides by the time between two scrapes, not by the window', () => {
    const store = replay(pagesOf(counter(0), counter(100), counter(150), counter(160), counter(170)));
    const [series] = find(store, 'x_total');
    if (series === undefined) throw new Error('no series');
    expect(aiperfStatistics(series, store, window, null)?.stats).toEqual({ total: 70, rate: 70 / 3 });
    expect(both(store).ours).toMatchObject({ increase: 70, rate_per_second: 70 / 2.5 });
  });
});

test('a gauge of more scrapes than a call may have arguments', () => {
  const page = (value: number): string => `# TYPE g gauge\ng ${value}`;
  const count = 130_000;
  const store = replay(pagesOf(...Array.from({ length: 100 }, (_, i) => page(i))));
  const [series] = find(store, 'g');
  for (let i = 100; i < count; i++) {
    const at_ns = i * 1e9;
    const times = {
      sent_ns: at_ns,
      at_ns,
      duration_ns: 0,
      interval_ns: 1e9,
      edge: false,
      unixSeconds: [i, i],
    } as const;
    store.recordPage(times, PARSER.parse(new TextEncoder().encode(`${page(i)}\n`), 'text/plain'), false);
  }
  const statistics = series && aiperfStatistics(series, store, { start_ns: 0, end_ns: count * 1e9 }, null);
  expect(statistics?.stats).toMatchObject({ min: 0, max: count - 1, avg: (count - 1) / 2 });
});

test("a gauge's golden values", () => {
  const gauge = (value: number): string => `# TYPE g gauge\ng ${value}`;
  const store = replay(pagesOf(gauge(2), gauge(4), gauge(4), gauge(10)));
  const [series] = find(store, 'g');
  const statistics = series && aiperfStatistics(series, store, { start_ns: 0, end_ns: 4e9 }, null);
  expect(statistics?.stats).toMatchObject({ avg: 5, p25: 3.5, p50: 4, p75: 5.5 });
  expect(statistics?.stats['std']).toBeCloseTo(3.4641016, 6);
  expect(statistics?.stats['p90']).toBeCloseTo(8.2, 12);
  expect(statistics?.stats['p95']).toBeCloseTo(9.1, 12);
  expect(statistics?.stats['p99']).toBeCloseTo(9.82, 12);
});
