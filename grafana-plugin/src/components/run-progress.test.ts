import { liveFigures } from './run-progress.ts';

const progress = {
  phase: 'measure' as const,
  requests_done: 30,
  requests_failed: 3,
  output_tokens: 540,
  requests_planned: null,
  elapsed_seconds: 5,
  planned_seconds: null,
};

test.each([
  ['by number', { requests_planned: 60 }, 0.5, 5],
  ['by time', { planned_seconds: 20 }, 0.25, 15],
  ['by whichever ends it', { requests_planned: 60, planned_seconds: 8 }, 0.625, 3],
  ['never above all of it', { planned_seconds: 4 }, 1, 0],
  ['unknown without an end', {}, null, null],
  ['no time left is known in the warm-up', { phase: 'warmup' as const, planned_seconds: 20 }, 0.25, null],
  ['by number, before the first request has ended', { requests_done: 0, requests_planned: 60 }, 0, null],
])('how much is done, and how long the rest takes: %s', (_name, change, share, remainingSeconds) => {
  expect(liveFigures({ ...progress, ...change })).toMatchObject({ share, remainingSeconds });
});

test('throughput is of ok requests, errors are of all that have ended; nothing is known before', () => {
  expect(liveFigures(progress)).toMatchObject({ requestsPerSecond: 5.4, tokensPerSecond: 108, errorRatio: 0.1 });
  const before = { ...progress, requests_done: 0, requests_failed: 0, output_tokens: 0, elapsed_seconds: null };
  expect(liveFigures(before)).toMatchObject({ requestsPerSecond: null, tokensPerSecond: null, errorRatio: null });
});
