import { describe, expect, test } from '@jest/globals';
import { seriesViews, type SampledSeries, type ServerSamples } from './server-view.ts';

const TARGET = 'http://gpu-1:8000/metrics';

function series(
  name: string,
  changes: readonly (readonly [number, number | null])[],
  facts: Partial<SampledSeries> = {},
): SampledSeries {
  return {
    target: TARGET,
    name,
    family: name,
    type: 'gauge',
    labels: {},
    seconds: changes.map(([at]) => at),
    values: changes.map(([, value]) => value),
    ...facts,
  };
}

const samples = (scrapes: readonly number[], ...all: SampledSeries[]): ServerSamples => ({
  scrapes: new Map([[TARGET, scrapes]]),
  series: all,
});

function views(from: ServerSamples, names: readonly string[], points = 100) {
  return seriesViews(from, { family: names, quantity: [], target: [] }, points);
}

describe('a series over time', () => {
  test('a gauge has its value at every scrape, also where it did not change', () => {
    const [found] = views(samples([0, 1, 2, 3], series('g', [[0, 5], [2, 7], [3, null]])), ['g']); // prettier-ignore
    expect(found).toMatchObject({ as: 'value', scrapes_per_point: 1, seconds: [0, 1, 2, 3], values: [5, 5, 7, null] });
  });

  test('before its first scrape it has no value', () => {
    const [found] = views(samples([0, 1, 2], series('g', [[1, 5]])), ['g']);
    expect(found?.values).toEqual([null, 5, 5]);
  });

  test('a counter is its increase per second since the scrape before; after a fall it counts from 0', () => {
    const counter = series('c_total', [[0, 10], [2, 16], [4, 3], [6, 5]], { type: 'counter' }); // prettier-ignore
    const [found] = views(samples([0, 1, 2, 4, 6, 7], counter), ['c_total']);
    // 16 − 10 within the second from 1 to 2; 3 from 0 in two seconds; 2 in two; nothing.
    expect(found).toMatchObject({ as: 'per_second', values: [null, 0, 6, 1.5, 1, 0] });
  });

  test('the increase of a counter that was missing is unknown', () => {
    const counter = series('c_total', [[0, 10], [1, null], [2, 30], [3, 31]], { type: 'counter' }); // prettier-ignore
    const [found] = views(samples([0, 1, 2, 3], counter), ['c_total']);
    expect(found?.values).toEqual([null, null, null, 1]);
  });

  test('more scrapes than points: a point stands for several, a gauge for its mean over their time', () => {
    const gauge = series('g', [[0, 2], [1, 4], [3, 8]]); // prettier-ignore
    const counter = series('c_total', [[0, 0], [1, 5], [4, 8]], { type: 'counter' }); // prettier-ignore
    const found = views(samples([0, 1, 2, 3, 4], gauge, counter), ['g', 'c_total'], 3);
    expect(found[0]).toMatchObject({ scrapes_per_point: 2, seconds: [0, 2, 4] });
    // (2·1 + 4·1) ÷ 2, (4·1 + 8·1) ÷ 2
    expect(found[0]?.values).toEqual([2, 3, 6]);
    expect(found[1]?.values).toEqual([null, 2.5, 1.5]);
  });

  test('a histogram is the mean of what was observed since the scrape before', () => {
    const facts = { family: 'vllm:time_to_first_token_seconds', type: 'histogram', labels: { engine: '0' } };
    const all = samples(
      [0, 1, 2],
      series('vllm:time_to_first_token_seconds_sum', [[0, 1], [1, 3]], facts), // prettier-ignore
      series('vllm:time_to_first_token_seconds_count', [[0, 10], [1, 14]], facts), // prettier-ignore
    );
    const query = { family: [], quantity: ['time_to_first_token'] as const, target: [] };
    expect(seriesViews(all, query, 100)).toMatchObject([
      {
        family: 'vllm:time_to_first_token_seconds',
        quantity: 'time_to_first_token',
        as: 'mean',
        values: [null, 0.5, null],
      },
    ]);
    expect(views(all, ['vllm:time_to_first_token_seconds_count'])).toMatchObject([
      { family: 'vllm:time_to_first_token_seconds_count', quantity: null, as: 'per_second', values: [null, 4, 0] },
    ]);
  });

  test('only of the targets that are requested', () => {
    const all = samples([0], series('g', [[0, 1]]));
    expect(seriesViews(all, { family: ['g'], quantity: [], target: ['http://other'] }, 9)).toEqual([]);
  });
});
