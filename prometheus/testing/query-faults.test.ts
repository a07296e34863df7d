import { describe, expect, test } from '@jest/globals';
import type { KnownMetric } from '../known-metrics.ts';
import { queryFaults } from './query-faults.ts';

const LABELS = new Set(['job', 'instance', 'model']);
const known = new Map<string, KnownMetric>([
  ['c_total', { family: 'c_total', type: 'counter', labels: LABELS }],
  ['g', { family: 'g', type: 'gauge', labels: LABELS }],
  ['h_bucket', { family: 'h', type: 'histogram', labels: new Set([...LABELS, 'le']) }],
  ['h_count', { family: 'h', type: 'histogram', labels: LABELS }],
  ['s', { family: 's', type: 'summary', labels: new Set([...LABELS, 'quantile']) }],
  ['s_sum', { family: 's', type: 'summary', labels: LABELS }],
]);

describe('queryFaults', () => {
  test.each([
    'sum by (instance) (rate(c_total{job="a"}[1m]))',
    'max by (instance) (g)',
    'histogram_quantile(0.5, sum by (instance, le) (rate(h_bucket[1m])))',
    'sum by (instance) (rate(h_bucket{le="0.5"}[1m])) / sum by (instance) (rate(h_count[1m]))',
    'max by (instance) (sum by (instance, le) (rate(h_bucket{le!="+Inf"}[1m])))',
    's{quantile="0.9"}',
    'rate(s_sum[1m])',
    'min_over_time(timestamp(c_total)[5m:2s])',
    'sum by (name, instance, le) (label_replace(rate(h_bucket[1m]), "name", "$1", "model", "(.+)"))',
  ])('has nothing against %s', (expr) => {
    expect(queryFaults(expr, known)).toEqual([]);
  });

  test.each<[expr: string, fault: string]>([
    ['unknown', 'nothing exposes it'],
    ['h', 'nothing exposes it'],
    ['g{color="red"}', 'no label color'],
    ['sum by (color) (g)', 'has a label color'],
    ['rate(g[1m])', 'a rate of a gauge'],
    ['rate(s[1m])', 'a rate of a gauge'],
    ['sum by (instance) (c_total)', 'a counter without rate or increase'],
    ['histogram_quantile(0.5, sum by (le) (rate(h_bucket[1m])))', 'grids of several sources'],
    ['histogram_quantile(0.5, rate(h_bucket[1m]))', 'not added up by le'],
    ['histogram_quantile(0.5, sum by (instance) (rate(h_bucket[1m])))', 'grids of several sources'],
    ['g or vector(0)', 'missing painted'],
    ['avg by (instance) (g)', 'average of averages'],
    [
      'max by (instance) (histogram_quantile(0.5, sum by (instance, le) (rate(h_bucket[1m]))))',
      'percentiles aggregated',
    ],
    ['quantile by (instance) (0.9, g)', 'a percentile of what may be percentiles'],
  ])('%s', (expr, fault) => {
    expect(queryFaults(expr, known).join('\n')).toContain(fault);
  });
});
