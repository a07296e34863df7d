import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SummaryAccumulator } from '../../../core/measures/summary.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import { requestRecord } from '../fixtures/run.ts';
import type { Population } from '../../../core/api/run-data.ts';
import {
  DISTRIBUTION_NAMES,
  distributionMeasure,
  distributionView,
  hasPopulationAll,
  readsChunks,
  requestColumns,
} from './distribution-view.ts';

async function* inTurn<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

/** An ok request whose first content comes after so many milliseconds. */
const after = (ms: number, changes: Partial<RequestRecord> = {}): RequestRecord =>
  requestRecord({ sent_ns: 0, first_content_ns: ms * 1_000_000, ...changes });

function view(
  records: readonly RequestRecord[],
  points: number,
  population: Population = 'ok',
  name = 'time_to_first_token',
) {
  const measure = distributionMeasure(name, null);
  if (measure === undefined) throw new Error(`no measure ${name}`);
  return distributionView(inTurn(records), measure, population, points);
}

describe('the distribution of a measure', () => {
  test('is the step function of its values', async () => {
    const found = await view([after(30), after(10), after(20), after(20)], 100);
    expect(found).toMatchObject({ n: 4, infinite: 0, shown: 3, between: 0 });
    expect(found.values).toEqual([0.01, 0.02, 0.03]);
    expect(found.share).toEqual([0.25, 0.75, 1]);
  });

  test('has only ok requests of the measure phase, unless failed ones count as infinitely slow', async () => {
    const records = [
      after(10),
      after(20, { phase: 'warmup' }),
      after(30, { outcome: 'error', reason: 'reset' }),
      after(40, { outcome: 'cancelled', reason: 'cancelled' }),
      after(50),
    ];
    expect(await view(records, 9)).toMatchObject({ n: 2, values: [0.01, 0.05], share: [0.5, 1] });
    const all = await view(records, 9, 'all');
    expect(all).toMatchObject({ n: 3, infinite: 1, values: [0.01, 0.05], share: [1 / 3, 2 / 3] });
    expect([all.percentiles.p50, all.percentiles.p99]).toEqual([0.05, null]);
  });

  test('keeps both ends and equal steps of rank, and reports how many values are between', async () => {
    const found = await view(
      Array.from({ length: 101 }, (_, i) => after(i + 1)),
      6,
    );
    expect(found.values).toEqual([0.001, 0.021, 0.041, 0.061, 0.081, 0.101]);
    expect(found).toMatchObject({ shown: 6, between: 19 });
    expect(found.share[1]).toBe(21 / 101);
  });

  test('of nothing is nothing', async () => {
    expect(await view([], 10)).toMatchObject({ n: 0, shown: 0, values: [], share: [], percentiles: { p50: null } });
  });

  test('keeps its promise for any values: every point is exact, and no more than `between` are strictly between two', async () => {
    const values = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(values, fc.integer({ min: 2, max: 30 }), async (ms, points) => {
        const found = await view(
          ms.map((each) => after(each)),
          points,
        );
        const seconds = ms.map((each) => (each * 1_000_000) / 1e9);
        expect(found.shown).toBeLessThanOrEqual(points);
        expect(found.values).toEqual([...new Set(found.values)].sort((a, b) => a - b));
        found.values.forEach((value, i) => {
          expect(found.share[i]).toBe(seconds.filter((each) => each <= value).length / ms.length);
          const next = found.values[i + 1] ?? Infinity;
          expect(seconds.filter((each) => each > value && each < next).length).toBeLessThanOrEqual(found.between);
        });
        expect([found.values[0], found.values.at(-1)]).toEqual([Math.min(...seconds), Math.max(...seconds)]);
      }),
    );
  });

  test('has the percentiles of result.json, to the last digit', async () => {
    const records = Array.from({ length: 50 }, (_, i) =>
      after((i * 37) % 101, {
        outcome: i % 7 === 3 ? 'error' : 'ok',
        reason: i % 7 === 3 ? 'reset' : null,
        last_content_ns: 170_000_000 + i * 1_234_567,
        chunk_offsets_ns: [i * 1_000_003, 50_000_000 + i * 999, 60_000_000 + i * i * 1013],
      }),
    );
    const summary = new SummaryAccumulator({ plannedConcurrency: 1 });
    records.forEach((each) => summary.add(each));
    const chunks = summary.chunkReading();
    records.forEach((each) => chunks.add(each));
    for (const expected of summary.summarize(chunks).measures) {
      if (expected.kind !== 'distribution') continue;
      const measure = distributionMeasure(expected.measure, expected.clock);
      if (measure === undefined) throw new Error(`no measure ${expected.measure}`);
      expect([expected.measure, hasPopulationAll(measure) || expected.population === 'ok']).toEqual([
        expected.measure,
        true,
      ]);
      const found = await distributionView(inTurn(records), measure, expected.population, 10);
      expect([expected.measure, found.n]).toEqual([expected.measure, expected.n]);
      for (const name of PERCENTILE_NAMES) {
        expect([expected.measure, name, found.percentiles[name]]).toEqual([
          expected.measure,
          name,
          expected.percentiles[name].value,
        ]);
      }
    }
  });
});

test('a measure that needs no chunks is read without them: its values are the same', async () => {
  const whole = requestRecord({ first_output_ns: 430_000_000, reasoning_tokens: 1, connect_ns: 5 });
  const without = { ...whole, chunk_offsets_ns: [] };
  const needing = DISTRIBUTION_NAMES.filter((name) => readsChunks(distributionMeasure(name, null) ?? never(name)));
  expect(needing.sort()).toEqual(['inter_chunk_latency', 'time_to_second_token', 'tokens_per_chunk']);
  for (const name of DISTRIBUTION_NAMES.filter((each) => !needing.includes(each))) {
    expect(await view([without], 10, 'ok', name)).toEqual(await view([whole], 10, 'ok', name));
  }
});

function never(name: string): never {
  throw new Error(`no measure ${name}`);
}

async function* numbered(count: number) {
  for (let index = 0; index < count; index++) yield requestRecord({ index });
}

test('a request by column, in base units; missing values are null', async () => {
  async function* one() {
    yield requestRecord({ input_tokens: null });
  }
  const fields = ['due_seconds', 'sent_seconds', 'time_to_first_token_seconds', 'inter_token_latency_seconds'] as const;
  const { columns } = await requestColumns(one(), () => true, [...fields, 'input_tokens', 'chunks', 'reason'], 10);
  expect(columns).toEqual({
    due_seconds: [0.3],
    sent_seconds: [0.3005],
    time_to_first_token_seconds: [0.12],
    // (470.5 − 420.5) ms ÷ 4
    inter_token_latency_seconds: [0.0125],
    input_tokens: [null],
    chunks: [3],
    reason: [null],
  });
});

test('above the limit: every n-th of the matching requests, with the smallest power of two as n', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 1, max: 40 }), async (count, limit) => {
      const { sampled, columns } = await requestColumns(
        numbered(2 * count),
        ({ index }) => index % 2 === 1,
        ['index'],
        limit,
      );
      const { shown, of, every } = sampled;
      expect([of, shown <= limit]).toEqual([count, true]);
      expect(columns.index).toEqual(Array.from({ length: shown }, (_, i) => 2 * i * every + 1));
      expect(shown).toBe(Math.ceil(count / every));
      if (every > 1) expect(Math.ceil(count / (every / 2))).toBeGreaterThan(limit);
    }),
  );
});
