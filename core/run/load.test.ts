import { describe, expect, test } from '@jest/globals';
import { closedLoop, loadOfLabel, loadText, type Load } from './load.ts';

const closed = (concurrency: number | null): Load => closedLoop(concurrency);
const atRate = (changes: Partial<Load> = {}): Load => ({
  ...closed(null),
  mode: 'request_rate',
  request_rate: 2.5,
  arrival_pattern: 'poisson',
  ...changes,
});
const traced = (concurrency: number | null): Load => ({ ...closed(concurrency), mode: 'trace' });

describe('a load in words and in a column', () => {
  test.each<[Load, string, string, string]>([
    [closed(8), 'concurrency 8', 'c8', 'concurrency 8'],
    [closed(2048), 'concurrency 2,048', 'c2048', 'concurrency 2048'],
    [closed(null), 'unknown concurrency', 'concurrency', 'concurrency'],
    [{ ...closed(8), prefill_concurrency: 2 }, 'concurrency 8, prefill concurrency up to 2', 'c8', 'concurrency 8'],
    [atRate(), '2.5 requests/s (poisson)', '2.5/s', 'request_rate 2.5 poisson'],
    [atRate({ arrival_pattern: null }), '2.5 requests/s', '2.5/s', 'request_rate 2.5'],
    [
      atRate({ concurrency: 64 }),
      '2.5 requests/s (poisson), concurrency up to 64',
      '2.5/s c64',
      'request_rate 2.5 poisson',
    ],
    [atRate({ request_rate: null, arrival_pattern: null }), 'unknown request rate', 'request rate', 'request_rate'],
    [traced(null), 'at the times of the trace', 'trace', 'trace'],
    [traced(64), 'at the times of the trace, concurrency up to 64', 'trace c64', 'trace'],
  ])('%j', (load, long, short, label) => {
    expect(loadText(load)).toBe(long);
    expect(loadText(load, 'column')).toBe(short);
    expect(loadText(load, 'label')).toBe(label);
  });

  test('an unknown load has no short form', () => {
    expect(loadText({ mode: null, concurrency: null, request_rate: null }, 'column')).toBe('');
  });
});

test('stages are written as --stages reads them', () => {
  const stages = [
    { duration_seconds: 60, concurrency: null, request_rate: { start: 5, end: 5 } },
    { duration_seconds: 30, concurrency: null, request_rate: { start: 5, end: 20 } },
    { duration_seconds: 120, concurrency: 64, request_rate: null },
  ];
  const load: Load = { ...closed(null), mode: 'stages', stages };
  expect(loadText(load)).toBe('stages rate=5:60s, rate=5..20:30s, concurrency=64:120s');
  expect(loadText(load, 'label')).toBe('stages rate=5:60s,rate=5..20:30s,concurrency=64:120s');
});

describe('a label is read back', () => {
  test.each([
    ['concurrency 8', { load: { mode: 'concurrency', value: 8 }, arrivalPattern: null }],
    ['request_rate 2.5 poisson', { load: { mode: 'request_rate', value: 2.5 }, arrivalPattern: 'poisson' }],
    ['request_rate 1e-7', { load: { mode: 'request_rate', value: 1e-7 }, arrivalPattern: null }],
    ['concurrency', null],
    ['trace', null],
    ['stages 10s:1-5/s', null],
    ['', null],
  ])('%s', (label, expected) => {
    expect(loadOfLabel(label)).toEqual(expected);
  });

  test('as it is exposed', () => {
    expect(loadOfLabel(loadText(closed(2048), 'label'))?.load).toEqual({ mode: 'concurrency', value: 2048 });
    expect(loadOfLabel(loadText(atRate({ request_rate: 0.25 }), 'label'))).toEqual({
      load: { mode: 'request_rate', value: 0.25 },
      arrivalPattern: 'poisson',
    });
  });
});
