import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { snappyUncompress } from 'hyparquet';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { exponentialBound, type NativeHistogram } from '../../../core/histogram/native-histogram.ts';
import { writeRequestV1, writeRequestV2 } from './encode-request.ts';
import { labelPairs, type SeriesLayout, type SeriesPoint } from './pushed-series.ts';

const golden = (name: string): Buffer => readFileSync(new URL(`fixtures/${name}.bin`, import.meta.url));

const START = 1795300926000;
const T1 = 1795300927260;
const T2 = 1795300928766;
const run_id = 'rün "1"\n';

const layout: SeriesLayout = {
  families: [
    { name: 'llmbench_requests_total', type: 'counter', help: 'Requests that have ended.' },
    { name: 'llmbench_run_phase', type: 'gauge', help: '' },
    { name: 'llmbench_wait_seconds', type: 'histogram', help: 'Wait' },
  ],
  series: [
    { family: 0, labels: labelPairs('llmbench_requests_total', { run_id, outcome: 'ok', empty: '' }) },
    { family: 1, labels: labelPairs('llmbench_run_phase', { run_id, Zone: 'a' }) },
  ],
  nativeSeries: [{ family: 2, labels: labelPairs('llmbench_wait_seconds', { run_id }) }],
  created_ms: START,
};

const bucket = (index: number, count: number) => ({
  index,
  low: exponentialBound(index - 1, 3),
  high: exponentialBound(index, 3),
  count,
});

const exponential: NativeHistogram = {
  schema: 3,
  zeroThreshold: 2 ** -30,
  zeroCount: 1,
  count: 9,
  sum: 12.5,
  positive: [bucket(-3, 3), bucket(-2, 1), bucket(3, 3)],
  negative: [bucket(-2, 1)],
  customBounds: null,
};

const custom: NativeHistogram = {
  schema: -53,
  zeroThreshold: 0,
  zeroCount: 0,
  count: 1,
  sum: 0,
  positive: [{ index: 1, low: 0.1, high: 2.5, count: 1 }],
  negative: [],
  customBounds: [0.1, 2.5],
};

const numbers: readonly SeriesPoint[] = [
  { time_ms: T1, values: [0, Infinity], native: [] },
  {
    time_ms: T2,
    values: [12, -0.1],
    native: [],
    exemplars: [{ series: 0, labels: { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736' }, value: 0.25, time_ms: T2 - 7 }],
  },
  { time_ms: T2 + 1000, values: null, native: null },
];

const native: readonly SeriesPoint[] = [
  { time_ms: T1, values: [], native: [exponential] },
  { time_ms: T1 + 1, values: [], native: [custom] },
  { time_ms: T2, values: null, native: null },
];

describe("requests equal the output of Python's protobuf package, byte for byte", () => {
  test('numbers of protocol 1.0, with metadata', () => {
    expect(Buffer.from(writeRequestV1(layout, numbers, 'numbers', true))).toEqual(golden('numbers-v1'));
  });
  test('native histograms of protocol 1.0', () => {
    expect(Buffer.from(writeRequestV1(layout, native, 'native', false))).toEqual(golden('native-v1'));
  });
  test('numbers of protocol 2.0', () => {
    expect(Buffer.from(writeRequestV2(layout, numbers, 'numbers'))).toEqual(golden('numbers-v2'));
  });
  test('native histograms of protocol 2.0', () => {
    expect(Buffer.from(writeRequestV2(layout, native, 'native'))).toEqual(golden('native-v2'));
  });
});

test('the stale marker has the bits of the specification', () => {
  const bytes = Buffer.from(writeRequestV1(layout, [{ time_ms: 1, values: null, native: null }], 'numbers', false));
  expect(bytes.includes(Buffer.from([0x09, 0x02, 0, 0, 0, 0, 0, 0xf0, 0x7f]))).toBe(true);
});

test('labels are sorted by the bytes of their names, and none is empty', () => {
  expect(labelPairs('m', { b: '1', a: '2', Z: '3', gone: '' })).toEqual([
    ['Z', '3'],
    ['__name__', 'm'],
    ['a', '2'],
    ['b', '1'],
  ]);
});

test('another implementation decompresses the output', () => {
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 2000 }),
    fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 3000 })).map(([unit, times]) => {
      const repeated = new Uint8Array(unit.length * times);
      for (let i = 0; i < times; i++) repeated.set(unit, i * unit.length);
      return repeated;
    }),
  );
  fc.assert(
    fc.property(body, (bytes) => {
      const compressed = snappyCompress(bytes);
      const read = new Uint8Array(bytes.length);
      if (bytes.length > 0) snappyUncompress(compressed, read);
      expect(Buffer.compare(read, bytes)).toBe(0);
    }),
    { numRuns: 50 },
  );
});
