import { describe, expect, test } from '@jest/globals';
import { aggregations, selectors } from './promql.ts';

describe('selectors', () => {
  const names = (expr: string): string[] => selectors(expr).map(({ metric }) => metric);

  test.each<[expr: string, metrics: string[]]>([
    ['up', ['up']],
    ['sum by (job, le) (rate(a_bucket{x="1"}[1m]))', ['a_bucket']],
    ['a:b:rate > on (system, model) c:d:sum', ['a:b:rate', 'c:d:sum']],
    ['label_replace(rate(a[1m]), "model", "$1", "name", "(.+)")', ['a']],
    ['a{l="x{y}"} and b unless c', ['a', 'b', 'c']],
    ['{__name__=~"a|b"}', ['']],
    ['x * on (run_id) group_left (model) max by (run_id, model) (info)', ['x', 'info']],
    ['max_over_time((sum by (i) (g{a="b"}))[$__range:$step])', ['g']],
    ['vector($slo)', []],
    ['a / 1e3 > bool 0.5', ['a']],
  ])('of %s', (expr, metrics) => {
    expect(names(expr)).toEqual(metrics);
  });

  test('have matchers, and the function that takes their range', () => {
    const [first, second] = selectors('rate(a{x=~"1|2",y!="3"}[$__rate_interval]) + b{z="4"}');
    expect(first).toMatchObject({
      rangeFunction: 'rate',
      matchers: [
        { label: 'x', operator: '=~', value: '1|2' },
        { label: 'y', operator: '!=', value: '3' },
      ],
    });
    expect(second).toMatchObject({ rangeFunction: null, matchers: [{ label: 'z', operator: '=', value: '4' }] });
  });
});

describe('aggregations', () => {
  test('have their labels and their argument', () => {
    const expr = 'sum by (a, b) (max by (a, b, c) (x)) / count by (a) (y)';
    const inside = aggregations(expr).map(({ operator, by, start, end }) => [operator, by, expr.slice(start, end)]);
    expect(inside).toEqual([
      ['sum', ['a', 'b'], 'max by (a, b, c) (x)'],
      ['max', ['a', 'b', 'c'], 'x'],
      ['count', ['a'], 'y'],
    ]);
  });

  test('refuse what is not closed', () => {
    expect(() => aggregations('sum by (a) (x')).toThrow('not closed');
  });
});
