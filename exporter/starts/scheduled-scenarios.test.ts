import { describe, expect, test } from '@jest/globals';
import { ConfigurationError } from '../errors/expected-error.ts';
import { newestDue, parseScheduledScenarios } from './scenario-schedule.ts';

const parsed = (text: string) =>
  parseScheduledScenarios(text, '/etc/bench/scenarios.yml', (words) =>
    words.includes('--slice=often') ? '--slice is often' : null,
  );

const HOUR_MS = 3_600_000;

test('a canary beside the stable version, and a day against the days before', () => {
  const { scenarios, folder } = parsed(`
defaults: { prometheus: 'http://prometheus:9090', prometheus-header: ['X-Scope-OrgID:team'], window: 1h }
scenarios:
  canary:
    match: job="vllm",version="canary"
    baseline-match: job="vllm",version="stable"
    slice: 5m
    every: 30m
  morning:
    prometheus: http://other:9090
    match: job="vllm"
    days: 20
    every: 1d
    offset: 10h
    delay: 5m
    gate: [time_to_first_token, request_latency]
`);
  expect(folder).toBe('/etc/bench');
  expect(scenarios).toEqual([
    {
      ...{ name: 'canary', every_ms: HOUR_MS / 2, window_ms: HOUR_MS, offset_ms: 0, delay_ms: 60_000, isBeside: true },
      words: [
        ...['--prometheus=http://prometheus:9090', '--match=job="vllm",version="canary"'],
        ...['--baseline-match=job="vllm",version="stable"', '--slice=5m', '--prometheus-header=X-Scope-OrgID:team'],
      ],
    },
    {
      ...{ name: 'morning', every_ms: 24 * HOUR_MS, window_ms: HOUR_MS, offset_ms: 10 * HOUR_MS, delay_ms: 300_000 },
      isBeside: false,
      words: [
        ...['--prometheus=http://other:9090', '--match=job="vllm"', '--days=20'],
        ...['--prometheus-header=X-Scope-OrgID:team', '--gate=time_to_first_token', '--gate=request_latency'],
        '--accept-passed',
      ],
    },
  ]);
});

const CANARY = 'prometheus: http://p, match: a, baseline-match: b, slice: 5m, window: 1h, every: 1h';

test.each([
  ['', '/etc/bench/scenarios.yml: scenarios must name at least one scenario'],
  ['{scenarios: {a: {}}, every: 1h}', 'every is not a known key; the keys are defaults, scenarios'],
  ['scenarios: {a: {window: 1h}}', '/etc/bench/scenarios.yml:1: scenarios.a.prometheus is missing'],
  ['scenarios: {a: {prometheus: http://p, match: a, window: 1h}}', 'scenarios.a.every is missing'],
  [`scenarios: {a: {${CANARY}, url: x}}`, 'scenarios.a.url is not a known key; the keys are prometheus, match,'],
  [`scenarios: {a: {${CANARY}, days: 20}}`, 'scenarios.a requires one of baseline-match and days'],
  [`scenarios: {a: {${CANARY}, offset: 1h}}`, 'scenarios.a.offset must be less than every'],
  [`scenarios: {a: {${CANARY}, delay: soon}}`, "scenarios.a.delay must be a duration such as '1s' or '100ms'"],
  [`scenarios: {a: {${CANARY}, gate: {a: 1}}}`, 'scenarios.a.gate must be a string, a number or a list of them'],
  [`scenarios: {a: {${CANARY.replace('every: 1h', 'every: 30s')}}}`, 'scenarios.a.every must be at least 1m'],
  [
    'scenarios: {a: {prometheus: http://p, match: a, days: 20, window: 1h, every: 1h}}',
    'scenarios.a.every must be a multiple of 1d with days',
  ],
  [`scenarios: {a: {${CANARY.replace('5m', 'often')}}}`, 'scenarios.a cannot be evaluated: --slice is often'],
])('%j is refused', (text, message) => {
  expect(() => parsed(text)).toThrow(ConfigurationError);
  expect(() => parsed(text)).toThrow(message);
});

test('every scenario that is not valid has a line', () => {
  expect(() => parsed(`scenarios:\n  a: {window: 1h}\n  b: {${CANARY}}\n  c: {${CANARY}, days: 2}\n`)).toThrow(
    new ConfigurationError(
      '/etc/bench/scenarios.yml:2: scenarios.a.prometheus is missing\n' +
        '/etc/bench/scenarios.yml:4: scenarios.c requires one of baseline-match and days',
    ),
  );
});

describe('the newest window that is due', () => {
  const at = (time: string): number => Date.parse(`2026-11-27T${time}Z`);
  test.each([
    ['10:00:59', '09:00:00'],
    ['10:01:00', '10:00:00'],
    ['10:59:59', '10:00:00'],
  ])('at %s ends at %s', (now, end) => {
    expect(newestDue({ every_ms: HOUR_MS, offset_ms: 0, delay_ms: 60_000 }, at(now))).toBe(at(end));
  });

  test('of each day ends at its offset', () => {
    const daily = { every_ms: 24 * HOUR_MS, offset_ms: 10 * HOUR_MS, delay_ms: 60_000 };
    expect(newestDue(daily, at('10:00:30'))).toBe(at('10:00:00') - 24 * HOUR_MS);
    expect(newestDue(daily, at('23:00:00'))).toBe(at('10:00:00'));
  });
});
