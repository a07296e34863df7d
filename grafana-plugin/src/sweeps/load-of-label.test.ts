import { loadName } from '../../../core/run/load-key.ts';
import type { LoadKey } from '../../../core/run/run.ts';
import { loadOfLabel } from './load-of-label.ts';

const key = (change: Partial<LoadKey>) => ({ concurrency: null, request_rate: null, ...change }) as LoadKey;

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

test('reads what llmbench exposes', () => {
  expect(loadOfLabel(loadName(key({ mode: 'concurrency', concurrency: 2048 })))?.load.value).toBe(2048);
  expect(loadOfLabel(`${loadName(key({ mode: 'request_rate', request_rate: 0.25 }))} constant`)?.load.value).toBe(0.25);
});
