import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { withNativeHistograms, renderNativeRules } from './native-histograms.ts';
import type { KnownMetric } from './known-metrics.ts';

const histogram: KnownMetric = { family: 'x', type: 'histogram', labels: new Set(['le']), bounds: [100, 2000] };
const gauge: KnownMetric = { family: 'pending_count', type: 'gauge', labels: new Set() };
const summary: KnownMetric = { family: 's', type: 'summary', labels: new Set() };
const KNOWN = new Map([
  ...['x_bucket', 'x_count', 'x_sum', 'x'].map((name) => [name, histogram] as const),
  ['pending_count', gauge],
  ['s_sum', summary],
]);

describe('withNativeHistograms', () => {
  test.each<[what: string, classic: string, either: string]>([
    [
      'buckets under a percentile',
      'histogram_quantile(0.9, sum by (job, le) (rate(x_bucket{job=~"$job"}[$__rate_interval])))',
      'histogram_quantile(0.9, sum by (job, le) (rate(x_bucket{job=~"$job"}[$__rate_interval]) or ignoring (le) rate(x{job=~"$job"}[$__rate_interval])))',
    ],
    [
      'count and sum, each an operand',
      'rate(x_sum[5m]) / rate(x_count[5m])',
      '(rate(x_sum[5m]) or histogram_sum(rate(x[5m]))) / (rate(x_count[5m]) or histogram_count(rate(x[5m])))',
    ],
    [
      'one bucket',
      'sum(increase(x_bucket{le="0.5",a="b"}[${__range}]))',
      'sum(increase(x_bucket{le="0.5",a="b"}[${__range}]) or ignoring (le) histogram_fraction(-Inf, 0.5, increase(x{a="b"}[${__range}])) * (histogram_count(increase(x{a="b"}[${__range}])) > 0))',
    ],
    [
      'a bucket that a variable chooses, which may be empty',
      'sum(rate(x_bucket{le="$slo"}[5m]))',
      'sum(rate(x_bucket{le="$slo"}[5m]) or ignoring (le) (histogram_fraction(-Inf, $slo + 0, rate(x[5m])) * (histogram_count(rate(x[5m])) > 0) and on () (vector($slo + 0) > 0)))',
    ],
    [
      'the last bucket',
      'sum(rate(x_bucket{le="+Inf"}[5m]))',
      'sum(rate(x_bucket{le="+Inf"}[5m]) or ignoring (le) histogram_count(rate(x[5m])))',
    ],
    [
      'buckets that a regular expression selects, at the known bounds',
      'sum by (le) (rate(x_bucket{le=~"1[0-9]+|\\\\+Inf"}[5m]))',
      'sum by (le) (rate(x_bucket{le=~"1[0-9]+|\\\\+Inf"}[5m]) or ignoring (le) (label_replace(histogram_fraction(-Inf, 100, rate(x[5m])) * (histogram_count(rate(x[5m])) > 0), "le", "100", "le", "") or label_replace(histogram_count(rate(x[5m])), "le", "+Inf", "le", "")))',
    ],
  ])('%s', (_, classic, either) => {
    expect(withNativeHistograms(classic, KNOWN)).toBe(either);
  });

  test.each([
    ['a gauge whose name ends like a sample', 'max_over_time((sum(pending_count))[1h:$step])'],
    ['the sum of a summary', 'rate(s_sum[5m])'],
    ['text in quotes', 'label_replace(up, "a", "rate(x_count[5m])", "b", "[x_bucket")'],
    ['bucket counts that are compared', 'sum by (le) (last_over_time(x_bucket[5m])) >= bool 3'],
    ['a recorded series', 'sum by (le) (system:x_bucket:rate)'],
  ])('leaves %s', (_, expr) => {
    expect(withNativeHistograms(expr, KNOWN)).toBe(expr);
  });

  test('a query that is not PromQL is an error, and so are buckets whose bounds are unknown', () => {
    expect(() => withNativeHistograms('sum(rate(x_count[5m])', KNOWN)).toThrow(/not PromQL/);
    const unknown = new Map([['x_bucket', { family: 'x', type: 'histogram', labels: new Set<string>() } as const]]);
    expect(() => withNativeHistograms('rate(x_bucket{le=~".+"}[5m])', unknown)).toThrow(/bounds.+unknown/);
  });
});

test('the rules in native/rules/ are those of rules/ (else: node prometheus/generate.ts)', () => {
  const folder = new URL('rules/', import.meta.url);
  const native = new URL('native/rules/', import.meta.url);
  expect(readdirSync(native).sort()).toEqual(readdirSync(folder).sort());
  for (const file of readdirSync(folder)) {
    const rendered = renderNativeRules(readFileSync(new URL(file, folder), 'utf8'), `prometheus/rules/${file}`);
    expect(readFileSync(new URL(file, native), 'utf8')).toBe(rendered);
  }
});
