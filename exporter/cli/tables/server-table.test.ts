import { describe, expect, test } from '@jest/globals';
import type { ResultFile, ServerTarget, ServersResult } from '../../../core/run/result.ts';
import type { SeriesSummary, ServersFile, HistogramStatistics } from '../../../core/run/servers-file.ts';
import { serverFacts, serverVerdict } from './server-lines.ts';
import { inUnit, serverTables, shownServers } from './server-table.ts';

describe('server table', () => {
  const target = (facts: Partial<ServerTarget> = {}): ServerTarget => ({
    target: 'http://h:8000/metrics',
    system: 'vllm',
    state: 'up',
    scrapes: 3,
    failed_scrapes: 0,
    skipped_scrapes: 0,
    scrape_duration_seconds: { p50: 0.002, p99: 0.004 },
    restarts: 0,
    dropped_series: 0,
    dropped_samples: 0,
    notes: [],
    ...facts,
  });

  const GPU = { model: 'NVIDIA H100', source: 'energy_counter', readings: 3, resolution_seconds: 1 } as const;

  const counter = (family: string, labels: Record<string, string>, increase: number): SeriesSummary => ({
    target: 'http://h:8000/metrics',
    family,
    type: 'counter',
    unit: 'requests',
    per: null,
    description: null,
    labels,
    repeats: null,
    no_values: 0,
    statistics: { kind: 'counter', increase, rate_per_second: increase / 10, resets: 0 },
    slices: null,
  });

  type Percentile = NonNullable<HistogramStatistics['percentiles']>['p99'];

  function histogram(p50: Percentile, p90: Percentile, p99: Percentile): SeriesSummary {
    const statistics = {
      kind: 'histogram',
      count: 9,
      sum: 4.5,
      mean: 0.5,
      rate_per_second: 1,
      resets: 0,
      infeasible_sum: false,
      percentiles: { p50, p90, p99 },
      buckets: null,
    } as unknown as HistogramStatistics;
    return { ...counter('vllm:time_to_first_token_seconds', {}, 0), type: 'histogram', unit: 'seconds', statistics };
  }

  const tables = (series: readonly SeriesSummary[], targets = [target()]): string[] =>
    serverTables({ targets, series } as unknown as ServersFile).split('\n');

  test('only labels by which the series of a family differ are shown', () => {
    const model = { model_name: 'a/very/long/name', engine: '0' };
    const lines = tables([
      counter('vllm:request_success_total', { ...model, finished_reason: 'stop' }, 1),
      counter('vllm:request_success_total', { ...model, finished_reason: 'length' }, 2),
      counter('vllm:request_success_total', model, 3),
      counter('vllm:prompt_requests_total', model, 4),
    ]);
    expect(lines.slice(3)).toEqual([
      '  vllm:request_success_total{finished_reason=stop}     1 request       0.100',
      '  vllm:request_success_total{finished_reason=length}  2 requests       0.200',
      '  vllm:request_success_total                          3 requests       0.300',
      '  vllm:prompt_requests_total                          4 requests       0.400',
    ]);
  });

  test('a label that only says again what another says is left out', () => {
    const series = [0, 1].map((gpu) =>
      counter('request_total', { gpu: String(gpu), UUID: `GPU-${gpu}`, host: 'h' }, 2),
    );
    expect(tables(series).slice(3)).toEqual([
      '  request_total{gpu=0}  2 requests       0.200',
      '  request_total{gpu=1}  2 requests       0.200',
    ]);
  });

  test('an estimate outside of the bounds that the sum leaves is the bound, marked', () => {
    const bounds: Percentile['bounds'] = [0.1, 2];
    const lines = tables([
      histogram(
        { estimate: 0.4, bounds, bounds_by_sum: [0.5, 0.7] },
        { estimate: 0.9, bounds, bounds_by_sum: [0.5, 0.7] },
        { estimate: 1.5, bounds, bounds_by_sum: null },
      ),
    ]);
    expect(lines.at(-1)).toMatch(/ 9 {2}500 ms {2}> 500 ms {2}≤ 700 ms {2}1\.50 s {2}100 ms to 2 s$/);
  });

  test('where the sum leaves one value only, it is the percentile', () => {
    const only: Percentile = { estimate: 0.9, bounds: [0.5, 2], bounds_by_sum: [1, 1] };
    expect(tables([histogram(only, only, only)]).at(-1)).toMatch(/ 1 s {2}1 s {2}1 s {2}1 s to 1 s$/);
  });

  test('a target without shown series says what the files have, and one without a response reports that', () => {
    expect(tables([counter('other', {}, 1), counter('another', {}, 1)])).toEqual([
      'http://h:8000/metrics  vllm  up  3 scrapes, 0 failed, p50 2 ms, p99 4 ms',
      '  2 series in the files',
    ]);
    const failed = { system: null, scrapes: 0, failed_scrapes: 1 };
    const never = target({ ...failed, state: 'waiting', notes: ['no page was read: no answer for 3.1 s'] });
    expect(tables([], [never])).toEqual([
      'http://h:8000/metrics  unknown system  no response  0 scrapes, 1 failed',
      '  no page was read: no answer for 3.1 s',
    ]);
    expect(tables([], [target({ ...failed, state: 'not_metrics' })])[0]).toContain('  not metrics  ');
  });

  test("the servers' lines of a result: the targets, then the energy", () => {
    const servers: ServersResult = {
      exact: true,
      why: null,
      requests: { server: 1, client: 1, difference: 0 } as ServersResult['requests'],
      gpu_energy: {
        ...{ joules: 600, watts: 300, idle_watts: 80, gpus: 2, source: 'energy_counter', resolution_seconds: 1 },
        by_gpu: [
          { ...GPU, gpu: 'GPU-0', joules: 250, watts: 125, idle_watts: 40 },
          { ...GPU, gpu: 'GPU-1', joules: 350, watts: 175, idle_watts: null },
        ],
      },
      collector: { interval_seconds: 1, cpu_seconds: 0.1, cpu_share: null },
      targets: [target({ scrapes: 1 })],
    };
    expect(serverVerdict(servers)).toEqual(['servers     exact · servers count 1 request, the client 1']);
    const perToken = { definition: 'd', origin: 'server', population: 'ok', clock: 'sent', kind: 'scalar' } as const;
    const measures: ResultFile['measures'] = [
      { ...perToken, measure: 'energy_per_output_token', unit: 'joules_per_token', value: 0.5 },
      { ...perToken, measure: 'energy_per_total_token', unit: 'joules_per_token', value: null },
    ];
    expect(serverFacts({ servers, measures })).toEqual([
      [
        'energy',
        '600 J by 2 GPUs, from energy counters · mean power 300 W · idle power before the run 80 W · ' +
          '0.500 J per output token · an estimate: readings up to 1 s apart',
      ],
      ['', 'GPU-0  NVIDIA H100  250 J, 125 W, idle 40 W'],
      ['', 'GPU-1  NVIDIA H100  350 J, 175 W'],
      ['targets', 'http://h:8000/metrics  vllm  up  1 scrape, 0 failed, p50 2 ms, p99 4 ms'],
    ]);
    // What servers and GPUs did for the cool-down is said where it is included.
    const coolDown = { ok: 6, error: 1, timeout: 0, cancelled: 0 };
    const [[, energy] = []] = serverFacts({ servers, measures, cool_down: coolDown });
    expect(energy).toContain(' · also for 7 requests of the cool-down, whose tokens are not counted · ');
    const requests = { server: 8, client: 8, difference: 0, cool_down: 7 } as ServersResult['requests'];
    expect(serverVerdict({ ...servers, requests })).toEqual([
      "servers     exact · servers count 8 requests, the client 8, 7 of them of the cool-down, which the servers' measures include",
    ]);
  });

  test('seconds and ratios are scaled; what has no unit has none; what is absent is no 0', () => {
    expect(inUnit(0.0123, 'seconds')).toBe('12.3 ms');
    expect(inUnit(0.5, 'ratio')).toBe('50 %');
    expect(inUnit(7, 'count')).toBe('7');
    expect(inUnit(7, null)).toBe('7');
    expect(inUnit(null, 'requests')).toBe('–');
  });
});

describe('show servers', () => {
  const TARGET = 'http://h:8000/metrics';
  const HEAD = `${TARGET}  vllm  up  3 scrapes, 0 failed, p50 2 ms, p99 4 ms`;

  const series = (family: string, type: string, unit: string | null, statistics: object): SeriesSummary =>
    ({ target: TARGET, family, type, unit, labels: {}, repeats: null, statistics }) as unknown as SeriesSummary;

  const counter = (family: string, increase: number | null): SeriesSummary =>
    series(family, 'counter', 'tokens', {
      kind: 'counter',
      increase,
      rate_per_second: increase === null ? null : increase / 10,
    });

  const percentile = (estimate: number, low: number, high: number | null) => ({
    estimate,
    bounds: [low, high],
    bounds_by_sum: null,
  });

  const HISTOGRAM = series('my_app_wait_seconds', 'histogram', 'seconds', {
    kind: 'histogram',
    count: 200,
    rate_per_second: 20,
    mean: 0.5,
    percentiles: { p50: percentile(0.4, 0.2, 0.5), p90: percentile(0.9, 0.5, 1), p99: percentile(1, 1, null) },
  });

  const gauge = (family: string, min: number, mean: number, max: number): SeriesSummary =>
    series(family, 'gauge', 'ratio', { kind: 'gauge', min, mean, max });

  function shown(all: readonly SeriesSummary[], width?: number): string[] {
    const target = { target: TARGET, system: 'vllm', state: 'up', scrapes: 3, failed_scrapes: 0, notes: [] };
    const times = { scrape_duration_seconds: { p50: 0.002, p99: 0.004 } };
    const file = { definitions: 'llmbench', targets: [{ ...target, ...times }], series: all };
    return shownServers(file as unknown as ServersFile, width).split('\n');
  }

  test('what changed of known and unknown systems, with rates, and with the bounds of percentiles', () => {
    const all = [HISTOGRAM, counter('vllm:prompt_tokens_total', 50), gauge('vllm:kv_cache_usage_perc', 0.1, 0.2, 0.5)];
    expect(shown(all)).toEqual([
      HEAD,
      '',
      '  histogram            count  per second    mean     p50        p50 within     p90     p90 within  p99  p99 within',
      '  my_app_wait_seconds    200          20  500 ms  400 ms  200 ms to 500 ms  900 ms  500 ms to 1 s  1 s       > 1 s',
      '',
      '  counter                    increase  per second',
      '  vllm:prompt_tokens_total  50 tokens           5',
      '',
      '  gauge                      min  mean   max',
      '  vllm:kv_cache_usage_perc  10 %  20 %  50 %',
    ]);
  });

  test('a narrow terminal gets the same on lines of their own, none of them too long', () => {
    const lines = shown([HISTOGRAM], 60);
    expect(lines.slice(-4)).toEqual([
      '  my_app_wait_seconds',
      '    count 200 · per second 20 · mean 500 ms · p50 400 ms ·',
      '    p50 within 200 ms to 500 ms · p90 900 ms ·',
      '    p90 within 500 ms to 1 s · p99 1 s · p99 within > 1 s',
    ]);
    expect(lines.every((line) => line.length <= 60)).toBe(true);
  });

  test('what did not change is left out, and what is unknown is no 0', () => {
    const lines = shown([counter('a_total', 0), counter('b_total', null), gauge('level', 1, 1, 1)]);
    expect(lines.slice(1)).toEqual(['', '  counter  increase  per second', '  b_total         –           –']);
    expect(shown([counter('a_total', 0)])).toEqual([HEAD, '  nothing changed']);
  });

  test('the number of lines has a limit, which is reported', () => {
    const lines = shown(Array.from({ length: 500 }, (_, i) => counter(`family_${i}_total`, 1)));
    expect(lines.length).toBeLessThan(70);
    expect(lines.at(-1)).toBe('  … and 440 more in servers.json');
  });

  test('cache hits and accepted speculative tokens are shares, where the servers count both', () => {
    const lines = shown([
      counter('vllm:prefix_cache_hits_total', 25),
      counter('vllm:prefix_cache_queries_total', 100),
      counter('vllm:spec_decode_num_accepted_tokens_total', 30),
      counter('vllm:spec_decode_num_draft_tokens_total', 40),
      counter('vllm:external_prefix_cache_hits_total', null),
      counter('vllm:external_prefix_cache_queries_total', 100),
    ]);
    expect(lines.slice(1, 4)).toEqual([
      '  prefix cache hits: 25 % (25 of 100 tokens)',
      '  speculative tokens accepted: 75 % (30 of 40 tokens)',
      '',
    ]);
  });
});
