import { nativeQuery } from './query-expressions.ts';

test.each([
  ['x_seconds_bucket{run_id="a"}', 'x_seconds{run_id="a"}'],
  ['sum by (le) (rate(vllm:x_bucket[1m]))', 'sum by (le) (rate(vllm:x[1m]))'],
  ['x_bucket or x unless ignoring (le) x_bucket{le="+Inf"}', null],
  ['x_seconds{run_id="a"}', null],
  ['job:x_bucket:rate1m', null],
])('%s', (expression, expected) => {
  expect(nativeQuery(expression)).toBe(expected);
});
