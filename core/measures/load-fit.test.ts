import { expect, test } from '@jest/globals';
import type { RecordedLoad } from '../run/load.ts';
import type { RequestRecord } from '../run/record.ts';
import { LoadFitTally } from './staged-summary.ts';

const SOURCE: RecordedLoad = {
  prometheus: 'http://prometheus:9090/',
  selector: '{}',
  start: '2026-11-27T09:00:00.000Z',
  end: '2026-11-27T09:00:40.000Z',
  compress: 2,
  scale: 4,
  slot_seconds: 10,
  // 1 request/s in 40 s of the source; 4 requests/s in 20 s of the plan.
  requests: [10, 10, 10, 10],
  input_tokens: { bounds: [10, 100], counts: [20, 20, 0], mean: 40 },
  output_tokens: null,
  cached_input_ratio: 0.5,
};

const record = (due_s: number, input: number | null, cached: number | null = null): RequestRecord =>
  ({
    phase: 'measure',
    due_ns: due_s * 1e9,
    sent_ns: due_s * 1e9,
    input_tokens: input,
    output_tokens: 7,
    cached_tokens: cached,
  }) as RequestRecord;

const fitOf = (records: readonly RequestRecord[]) => {
  const tally = new LoadFitTally(SOURCE);
  for (const each of records) tally.add(each);
  return new Map(tally.result().map((fit) => [fit.quantity, fit]));
};

test('compares means, and cumulative shares at the edges of slots and buckets', () => {
  // From 100 s on: three quarters in the first of four slots of 5 s, the others in the last; in any order. 4 of 80 requests
  // were sent, the last of them after 18 s.
  const records = [record(118, 200), ...Array.from({ length: 3 }, (_, i) => record(100 + i, 10, 4))];
  const fit = fitOf(records.toReversed());
  expect(fit.get('request_rate')).toMatchObject({ source: 4, achieved: 4 / 18, distance: 0.5 });
  // 3/4 instead of 1/2 are up to 10 tokens; 3/4 instead of all up to 100.
  expect(fit.get('input_tokens')).toMatchObject({ source: 40, achieved: 57.5, distance: 0.25 });
  expect(fit.get('output_tokens')).toMatchObject({ source: null, achieved: 7, distance: null });
  expect(fit.get('cached_input_ratio')?.achieved).toBeCloseTo(0.4, 12);
  expect(fit.get('cached_input_ratio')?.distance).toBeCloseTo(0.1, 12);
});

test('the same load has no distance; the warm-up does not count', () => {
  const records = [0, 5, 10, 15].flatMap((at) => [record(at, 10), record(at + 1, 100)]);
  const warmup = { ...record(0, 5000), phase: 'warmup' } as RequestRecord;
  const fit = fitOf([warmup, ...records]);
  expect([fit.get('request_rate')?.distance, fit.get('input_tokens')?.distance]).toEqual([0, 0]);
});

test('a client that needs twice the time has half the rate', () => {
  const records = Array.from({ length: 80 }, (_, i) => ({ ...record(i / 4, 10), sent_ns: (i + 1) * 0.5e9 }));
  // At the end of the plan half of the requests had been sent.
  expect(fitOf(records).get('request_rate')).toMatchObject({ source: 4, achieved: 2, distance: 0.5125 });
});

test('a run that ends early had its rate for as long as it lasted', () => {
  const records = Array.from({ length: 40 }, (_, i) => record((i * 10) / 39, 10));
  expect(fitOf(records).get('request_rate')).toMatchObject({ source: 4, achieved: 4 });
});

test('without requests nothing is known', () => {
  const fit = fitOf([]);
  expect(fit.get('request_rate')).toMatchObject({ achieved: null, distance: null });
  expect(fit.get('input_tokens')).toMatchObject({ achieved: null, distance: null });
});
