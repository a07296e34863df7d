import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import type { DistributionResult, ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { PERCENTILE_NAMES } from '../../core/stats/percentiles.ts';
import { compare } from './compare.ts';
import { figuresOfRun } from './load-figures.ts';
import { defaultRules, parseRules } from './rules.ts';

const percentiles = (value: number | null, bounds: readonly [number, number] | null = null) =>
  Object.fromEntries(
    PERCENTILE_NAMES.map((name) => [name, { value, ci95: null, bounds }]),
  ) as DistributionResult['percentiles'];

const distribution = (measure: string, changed: Partial<DistributionResult> = {}): DistributionResult => ({
  ...{
    kind: 'distribution',
    measure,
    unit: 'seconds',
    definition: 'd',
    origin: 'client',
    population: 'ok',
    clock: 'sent',
  },
  ...{ n: 10, effective_n: 7, mean: 2, std: 1, min: 1, max: 3, percentiles: percentiles(2) },
  ...changed,
});

const RUN = { run_id: 'r', start: '2026-01-01T00:00:00.000Z', scenario: 's', fingerprint: 'f' } as RunFile;
const RESULT = { client: { verdict: 'ok' }, servers: null, measures: [] } as unknown as ResultFile;
const figures = (...measures: DistributionResult[]) => figuresOfRun(RUN, { ...RESULT, measures }).figures;

test('mean, p50, p90 and p99 with their numbers and direction', () => {
  const found = figures(distribution('time_to_first_token'));
  expect(found.map(({ stat }) => stat)).toEqual(['mean', 'p50', 'p90', 'p99']);
  expect(found[1]).toMatchObject({ value: 2, n: 10, effective_n: 7, direction: 'lower', clock: 'sent' });
});

test('a percentile from buckets is its interval', () => {
  const [, p50] = figures(distribution('request_latency', { percentiles: percentiles(2, [1, 4]) }));
  expect(p50?.value).toEqual([1, 4]);
});

test('a value that is missing is infinite only where failed requests count as infinitely slow', () => {
  const missing = { mean: null, percentiles: percentiles(null) };
  expect(figures(distribution('request_latency', missing)).map(({ value }) => value)).toEqual([null, null, null, null]);
  const [mean, p50] = figures(distribution('request_latency', { ...missing, population: 'all' }));
  expect([mean?.value, p50?.value]).toEqual([Infinity, Infinity]);
  const [none] = figures(distribution('request_latency', { ...missing, population: 'all', n: 0 }));
  expect(none?.value).toBeNull();
});

test('the load as it was achieved', () => {
  const measures = [
    distribution('input_sequence_length', { unit: 'tokens', mean: 512 }),
    distribution('output_sequence_length', { unit: 'tokens', mean: 128 }),
  ];
  expect(figuresOfRun(RUN, { ...RESULT, measures })).toMatchObject({
    run_id: 'r',
    load: { input_tokens: 512, output_tokens: 128, cached_input_ratio: null, request_rate: null },
    command_line: RUN.command_line,
    client: 'ok',
    foreign_traffic: null,
  });
});

test('a result of the store can be read', async () => {
  const folder = new URL('../store/migrations/fixtures/version-1/20261121T222600Z-version1ab/', import.meta.url);
  const result = JSON.parse(await readFile(new URL('result.json', folder), 'utf8')) as ResultFile;
  const run = JSON.parse(await readFile(new URL('run.json', folder), 'utf8')) as RunFile;
  // One distribution and one scalar.
  expect(figuresOfRun(run, result).figures).toHaveLength(5);
});

describe('runs with conversations', () => {
  const turns = (value: string, mean: number) => ({
    ...{ by: 'turn' as const, value, requests: { ok: 10, error: 0, timeout: 0, cancelled: 0 } },
    measures: [distribution('time_to_first_token', { mean, percentiles: percentiles(mean) })],
  });
  const runWith = (first: number, later: number, mixed: number) => {
    const measures = [
      distribution('time_to_first_token', { mean: mixed, percentiles: percentiles(mixed) }),
      distribution('conversation_duration'),
    ];
    const breakdown = [turns('first', first), turns('later', later), turns('2', later), turns('3-4', later)];
    return figuresOfRun(RUN, { ...RESULT, measures, breakdown });
  };
  /** Later turns are slower, and more of the requests are first turns: of all together the times are the same. */
  const before = Array.from({ length: 6 }, (_, i) => runWith(1 + i * 1e-3, 2 + i * 1e-3, 1.5));
  const after = Array.from({ length: 6 }, (_, i) => runWith(1 + i * 1e-3, 2.6 + i * 1e-3, 1.5));
  const judged = (rules = defaultRules([...before, ...after])) =>
    compare(before, after, { rules }).measures.filter(({ measure }) => measure === 'time_to_first_token');

  test('first and later turns are judged apart, and gate apart, and all turns together are not judged', () => {
    const verdicts = judged();
    expect(
      verdicts.filter(({ gating }) => gating).map(({ breakdown, stat, verdict }) => [breakdown, stat, verdict]),
    ).toEqual([
      ['turn=first', 'p90', 'unchanged'],
      ['turn=later', 'p90', 'regressed'],
    ]);
    expect(new Set(verdicts.map(({ breakdown }) => breakdown))).toEqual(new Set(['turn=first', 'turn=later']));
    expect(verdicts[1]?.sentence).toMatch(/^Time to first token p90 of later turns is regressed/);
  });

  test('all turns together are judged where a rule names them', () => {
    const { primary } = parseRules({ gate: ['ttft:p50', 'ttft{turn=later}:p50'], margin: [] });
    const gating = judged({ ...defaultRules([]), primary: primary ?? [] }).filter((each) => each.gating);
    expect(gating.map(({ breakdown, verdict }) => [breakdown, verdict])).toEqual([
      [undefined, 'unchanged'],
      ['turn=later', 'regressed'],
    ]);
    expect(() => parseRules({ gate: ['ttfx{turn=later}:p50'], margin: [] })).toThrow("gate is 'ttfx{turn=later}:p50'");
  });
});
