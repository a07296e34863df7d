import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseText } from '../../../core/exposition/parse.ts';
import { parseOpenMetrics } from '../../../core/exposition/testing/open-metrics.ts';
import type { Exposition } from '../../../core/exposition/exposition.ts';
import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import { finishedRunFamilies, requestHistograms, windowOf } from '../finished-run.ts';
import { distribution, requestRecord, resultFile, runFile, scalar } from '../fixtures/run.ts';
import { writeRequestV1, writeRequestV2 } from '../remote-write/encode-request.ts';
import { finishedSeries, type TimedSeries } from '../remote-write/pushed-series.ts';
import { decodeRequest } from '../remote-write/testing/decode-request.ts';
import { ResultMetrics } from '../result-metrics.ts';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { runSummary } from '../views/run-summary.ts';
import { OpenMetricsPages } from './openmetrics-pages.ts';
import { wholePage } from '../testing/whole-page.ts';

const run = runFile({ status: 'completed', end: '2026-11-03T10:15:11.000Z' });

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

/** Series (its labels as JSON, in the order of names) → its values by time in milliseconds; null: a page has no times. */
type Values = Map<string, [time_ms: number | null, value: number][]>;

const keyOf = (labels: Readonly<Record<string, string>>): string =>
  JSON.stringify(
    Object.entries(labels)
      .filter(([, value]) => value !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

function add(values: Values, labels: Readonly<Record<string, string>>, time_ms: number | null, value: number): void {
  const key = keyOf(labels);
  values.set(key, [...(values.get(key) ?? []), [time_ms, value]]);
}

function ofPage(page: Exposition): Values {
  const values: Values = new Map();
  for (const family of page.families)
    for (const { name, labels, value, timestampSeconds } of family.samples)
      if (labels['run_id'] !== undefined)
        add(values, { ...labels, __name__: name }, timestampSeconds && Math.round(timestampSeconds * 1000), value);
  return values;
}

function sentBy(protocol: '1' | '2', series: readonly TimedSeries[]): Values {
  const values: Values = new Map();
  for (const { layout, points } of series) {
    const message =
      protocol === '1' ? writeRequestV1(layout, points, 'numbers', false) : writeRequestV2(layout, points, 'numbers');
    for (const { labels, samples } of decodeRequest(snappyCompress(message), protocol).series)
      for (const { time_ms, value } of samples) if (value !== 'stale') add(values, labels, time_ms, value);
  }
  return values;
}

async function scraped(result: ResultFile, records: readonly RequestRecord[]): Promise<Values> {
  const source = {
    list: async () => [{ run_id: run.run_id, summary: runSummary(run, null), damage: null }],
    readRun: async () => run,
    readResult: async () => result,
    readServers: async () => null,
    readRecords: () => each(records),
    live: async () => [],
  };
  const page = await new ResultMetrics({ source, version: '0', problem: fail }).render(undefined);
  return ofPage(parseText(wholePage(page)));
}

const fail = (line: string): never => {
  throw new Error(line);
};

/** JSON, and so result.json, has no negative zero. */
const value = fc.option(
  fc.double({ noNaN: true }).map((number) => (number === 0 ? 0 : number)),
  { nil: null },
);
const ns = fc.integer({ min: 0, max: 5e9 });

const record = fc
  .record({ due: ns, wait: ns, gaps: fc.array(ns, { maxLength: 5 }), outcome: fc.constantFrom('ok', 'timeout') })
  .map(({ due, wait, gaps, outcome }): RequestRecord => {
    const sent_ns = due + wait;
    const chunk_offsets_ns = gaps.map((_, i) => gaps.slice(0, i + 1).reduce((sum, gap) => sum + gap, 0));
    const [first = null] = chunk_offsets_ns;
    const last = chunk_offsets_ns.at(-1) ?? null;
    return requestRecord({
      ...{ due_ns: due, sent_ns, chunk_offsets_ns, outcome: outcome },
      reason: outcome === 'ok' ? null : 'request_timeout',
      first_content_ns: first === null ? null : sent_ns + first,
      last_content_ns: last === null ? null : sent_ns + last,
      end_ns: sent_ns + (last ?? 0),
    });
  });

const result = fc
  .record({
    mean: value,
    std: value,
    min: value,
    max: value,
    throughput: value,
    percentiles: fc.array(value, { minLength: 10, maxLength: 10 }),
  })
  .map(({ throughput, percentiles, ...statistics }) => {
    const named = PERCENTILE_NAMES.map((name, i) => [
      name,
      { value: percentiles[i] ?? null, ci95: null, bounds: null },
    ]);
    return resultFile({
      measures: [
        distribution({ ...statistics, percentiles: Object.fromEntries(named) as never }),
        scalar({ value: throughput }),
      ],
    });
  });

test('scrape, remote write 1.0 and 2.0, backfill and result.json say the same numbers at the same times', async () => {
  await fc.assert(
    fc.asyncProperty(result, fc.array(record, { maxLength: 8 }), async (file, records) => {
      const window = windowOf({ run, result: file });
      if (window === null) throw new Error('the run has a window');
      const families = [
        ...finishedRunFamilies({ run, result: file, servers: null }),
        ...(await requestHistograms(run, each(records))),
      ];
      const series = finishedSeries(families, window, {});
      const pages = new OpenMetricsPages();
      series.forEach((one) => pages.add(one));
      const [page, ...others] = pages.takeUntil(Infinity);
      expect(others).toEqual([]);
      const backfilled = ofPage(parseOpenMetrics(new TextEncoder().encode(page?.text)));
      const first = sentBy('1', series);
      expect(sentBy('2', series)).toEqual(first);
      expect(backfilled).toEqual(first);

      const onPage = await scraped(file, records);
      expect([...onPage.keys()].sort()).toEqual([...first.keys()].sort());
      for (const [key, [[, shown] = []]] of onPage) {
        const atEnd = first.get(key)?.find(([time_ms]) => time_ms === window.end_ms);
        expect([key, atEnd?.[1]]).toEqual([key, shown]);
      }

      const stat = (measure: string, name: string, unit: string): number | null => {
        const key = keyOf({ __name__: `llmbench_result_${unit}`, run_id: run.run_id, measure, stat: name });
        const values = first.get(key);
        if (values === undefined) return null;
        expect(values.map(([time_ms]) => time_ms)).toEqual([window.end_ms, window.end_ms + 15_000]);
        return values[0]?.[1] ?? null;
      };
      for (const measure of file.measures) {
        if (measure.kind === 'scalar') expect(stat(measure.measure, 'value', measure.unit)).toBe(measure.value);
        else {
          for (const name of PERCENTILE_NAMES)
            expect(stat(measure.measure, name, measure.unit)).toBe(measure.percentiles[name].value);
          for (const name of ['mean', 'std', 'min', 'max'] as const)
            expect(stat(measure.measure, name, measure.unit)).toBe(measure[name]);
        }
      }
    }),
    { numRuns: 10 },
  );
});

test('a histogram begins at 0 when the run does, and has its values when it ends', async () => {
  const window = { start_ms: 1_000, end_ms: 2_500 };
  const families = await requestHistograms(run, each([requestRecord()]));
  const values = sentBy('2', finishedSeries(families, window, { cluster: 'a' }));
  const name = 'llmbench_result_request_latency_seconds';
  expect(values.get(keyOf({ __name__: `${name}_count`, run_id: run.run_id, cluster: 'a' }))).toEqual([
    [1_000, 0],
    [2_500, 1],
    [17_500, 1],
  ]);
});
