import type { SeriesSummary, ServersFile } from '../../../../core/run/servers-file.ts';
import { serverCounts, judgePercentile } from './server-histograms.ts';

function series(
  target: string,
  buckets: Array<[string, number]>,
  sum: number | null,
  more: Partial<SeriesSummary> = {},
  resets = 0
): SeriesSummary {
  const count = buckets.at(-1)?.[1] ?? 0;
  return {
    target,
    family: 'vllm:time_to_first_token_seconds',
    type: 'histogram',
    unit: 'seconds',
    per: 'request',
    description: null,
    labels: {},
    repeats: null,
    no_values: 0,
    slices: null,
    statistics: {
      kind: 'histogram',
      count,
      sum,
      mean: null,
      rate_per_second: null,
      resets,
      infeasible_sum: false,
      percentiles: null,
      buckets,
    },
    ...more,
  };
}

const RESPONSE: Omit<ServersFile, 'series'> = {
  schema_version: 1,
  run_id: 'a',
  definitions: 'llmbench',
  window: { start: '2026-11-21T10:00:00.000Z', end: '2026-11-21T10:00:10.000Z', seconds: 10 },
  interval_seconds: 1,
  targets: [],
};
const counts = (...all: SeriesSummary[]) => serverCounts({ ...RESPONSE, series: all });

test('series with like bounds are added, however the bounds are written', () => {
  const [only, ...others] = counts(
    series(
      'a',
      [
        ['0.1', 4],
        ['1', 6],
        ['+Inf', 6],
      ],
      1.2
    ),
    series(
      'b',
      [
        ['0.1', 1],
        ['1.0', 2],
        ['+Inf', 4],
      ],
      8.8
    )
  );
  expect(others).toEqual([]);
  expect(only).toMatchObject({ count: 10, sumIsSound: true, targets: ['a', 'b'] });
  expect(only?.histogram.counts).toEqual([5, 8, 10]);
});

test('unlike bounds stay apart', () => {
  expect(
    counts(
      series(
        'a',
        [
          ['0.1', 1],
          ['+Inf', 1],
        ],
        0.1
      ),
      series(
        'b',
        [
          ['0.2', 1],
          ['+Inf', 1],
        ],
        0.1
      )
    )
  ).toHaveLength(2);
});

test('a series on two pages counts once; empty series and other types are ignored', () => {
  const buckets: Array<[string, number]> = [
    ['0.1', 3],
    ['+Inf', 3],
  ];
  expect(
    counts(
      series('a', buckets, 0.1),
      series('b', buckets, 0.1, { repeats: 'a' }),
      series(
        'c',
        [
          ['0.1', 0],
          ['+Inf', 0],
        ],
        0
      ),
      series('d', [], null, { statistics: { kind: 'counter', increase: 1, rate_per_second: 0.1, resets: 0 } })
    ).map(({ count }) => count)
  ).toEqual([3]);
});

test('a reset makes the sum unsound', () => {
  const buckets: Array<[string, number]> = [
    ['0.1', 3],
    ['+Inf', 3],
  ];
  expect(counts(series('a', buckets, 0.1, {}, 1))[0]?.sumIsSound).toBe(false);
});

describe('a percentile of the client beside the interval of the server', () => {
  const ALLOWANCE = 0.005;

  test.each([
    ['within a narrow interval', 0.07, { low: 0.06, high: 0.08 }, 'agrees'],
    ['above it by less than the network', 0.084, { low: 0.06, high: 0.08 }, 'agrees'],
    ['above it by more', 0.086, { low: 0.06, high: 0.08 }, 'differs'],
    ['below it: no network makes a client faster', 0.059, { low: 0.06, high: 0.08 }, 'differs'],
    ['within an interval wider than half of it', 0.186, { low: 0.1, high: 0.25 }, 'unresolved'],
    ['outside of a wide interval all the same', 0.9, { low: 0.1, high: 0.25 }, 'differs'],
    ['beyond the last bucket', 3, { low: 2, high: Infinity }, 'unresolved'],
    ['beyond the last bucket, but the client is below', 1, { low: 2, high: Infinity }, 'differs'],
    ['no client', null, { low: 0, high: 1 }, 'unknown'],
    ['no server', 1, null, 'unknown'],
  ])('%s', (_name, client, server, expected) => {
    expect(judgePercentile(client, server, ALLOWANCE)).toBe(expected);
  });
});
