import { expect, test } from '@jest/globals';
import type { MeasureResult, ResultFile } from './result.ts';
import { overRepeats } from './repeats.ts';

const IDENTITY = { definition: 'd', origin: 'client', population: 'ok', clock: 'sent' } as const;

const result = (...measures: MeasureResult[]): ResultFile => ({
  schema_version: 7,
  run_id: 'r',
  status: 'completed',
  scenario: 's',
  fingerprint: '',
  window: { start: null, end: null, seconds: null },
  requests: { ok: 0, error: 0, timeout: 0, cancelled: 0 },
  errors: {},
  client: {
    verdict: 'unknown',
    why: null,
    event_loop_delay_p99_seconds: null,
    event_loop_delay_max_seconds: null,
    cpu_seconds: null,
  },
  servers: null,
  measures,
  slos: [],
  stages: [],
});
const throughput = (value: number | null): MeasureResult => ({
  ...IDENTITY,
  kind: 'scalar',
  measure: 'request_throughput',
  unit: 'requests_per_second',
  value,
});

test('mean, spread and interval over runs', () => {
  const [found, ...rest] = overRepeats([10, 12, 14].map((value) => result(throughput(value))));
  expect(rest).toEqual([]);
  // Deviations −2, 0, 2: s² = 8/2; t(0.95, 2) = 4.3027, half width 4.3027 · 2/√3 = 4.9683.
  expect(found).toMatchObject({
    measure: 'request_throughput',
    stat: 'value',
    n: 3,
    mean: 12,
    std: 2,
    min: 10,
    max: 14,
  });
  expect(found?.cv).toBeCloseTo(1 / 6, 12);
  expect(found?.ci95?.[0]).toBeCloseTo(12 - 4.9683, 3);
  expect(found?.ci95?.[1]).toBeCloseTo(12 + 4.9683, 3);
});

test('one run has no spread, and a run without a value is not counted as 0', () => {
  expect(overRepeats([result(throughput(5)), result(throughput(null))])).toMatchObject([
    { n: 1, mean: 5, std: null, cv: null, ci95: null },
  ]);
  expect(overRepeats([result(throughput(null))])).toEqual([]);
});

test('what has another definition, clock or population is another statistic', () => {
  const other = { ...throughput(1), definition: 'e' };
  const all = { ...throughput(1), population: 'all' as const };
  expect(overRepeats([result(throughput(1), all), result(other)]).map(({ n }) => n)).toEqual([1, 1, 1]);
});
