import { distributionOf, scalarOf } from '../components/measure-name.ts';
import { breakdownOfSeries, breakdownQueries, liveCountQueries, liveFigureQueries } from './prometheus-breakdown.ts';

const one = (by: 'turn' | 'model', of: string, measure: string, stat: string, value: number) => ({
  refId: by,
  labels: { [by]: of, measure, stat },
  times: [0],
  values: [value],
});

test('the populations of a run with the statistics that are published, nothing made up', () => {
  const parts = breakdownOfSeries([
    one('turn', 'later', 'time_to_first_token', 'p50', 0.2),
    one('turn', 'first', 'time_to_first_token', 'p50', 0.1),
    one('turn', 'first', 'cached_input_ratio', 'value', 0.4),
    one('turn', 'first', 'requests', 'ok', 12),
    one('model', 'lora', 'request_throughput', 'value', 3),
  ]);
  expect(parts.map(({ by, value }) => `${by} ${value}`)).toEqual(['model lora', 'turn first', 'turn later']);
  const [lora, first, later] = parts;
  expect(first?.requests).toEqual({ ok: 12, error: null, timeout: null, cancelled: null });
  expect(distributionOf(first!, 'time_to_first_token')?.percentiles.p50.value).toBe(0.1);
  expect(distributionOf(first!, 'time_to_first_token')?.percentiles.p99.value).toBeNull();
  expect(scalarOf(first!, 'cached_input_ratio')?.value).toBe(0.4);
  expect(scalarOf(lora!, 'request_throughput')?.value).toBe(3);
  expect(later?.requests.ok).toBeNull();
});

test('a percentile of no observations is not known', () => {
  const [first] = breakdownOfSeries([one('turn', 'first', 'time_to_first_token', 'p99', NaN)]);
  expect(first).toBeUndefined();
});

test('the queries are restricted to the run, for any id', () => {
  const id = 'a"b';
  for (const { expr } of [...breakdownQueries(60, id), ...liveCountQueries(id), ...liveFigureQueries('turn', id)]) {
    expect(expr).toContain('run_id="a\\"b"');
    // Every selector of a live run has it.
    expect(expr.match(/llmbench_\w+\{(?!run_id="a\\"b")/g)).toBeNull();
  }
});
