import { expect, test } from '@jest/globals';
import { RunControls } from './phases/run-controls.ts';
import { benchmarkRun as run } from './testing/benchmark-run.ts';
import { fullLoad, outsideFullLoad } from './testing/full-load.ts';
import { response, delta, GOOD_STREAM, httpChunk, sse, STREAM_HEAD, streamOf } from './testing/scripted-server.ts';
import type { Script } from './testing/scripted-server.ts';

const CONCURRENCY = 4;

/** Answers after a time that depends on the position of the request. */
const after = (wait_ms: (position: number) => number): Script => {
  return (socket, { position }) => setTimeout(() => socket.write(streamOf(GOOD_STREAM)), wait_ms(position));
};

/** One slow request, the last measured one, keeps the run alone at its end. */
const slowLast = after((position) => (position === 19 ? 400 : 25));

test('freed slots send requests that are not measured until the last measured one has ended', async () => {
  const { outcome, recorder, server } = await run({ coolDown: true }, slowLast);
  const [measured, cooled] = [recorder.of('measure'), recorder.of('cooldown')];
  expect(measured.map(({ index }) => index)).toEqual([...Array(20).keys()]);
  expect(cooled.length).toBeGreaterThan(CONCURRENCY);
  expect(cooled.map(({ index }) => index)).toEqual(cooled.map((_, i) => 20 + i));
  expect(outsideFullLoad(measured, fullLoad(recorder.records, CONCURRENCY))).toEqual([]);
  const lastEnd_ns = Math.max(...measured.map(({ end_ns }) => end_ns));
  // Due when a slot became free: on a busy machine the request may be sent after the end.
  for (const { due_ns } of cooled) expect(due_ns).toBeLessThan(lastEnd_ns);
  // Those in flight were read to their end.
  expect(cooled.every(({ outcome: each }) => each === 'ok')).toBe(true);
  expect(Math.max(...cooled.map(({ end_ns }) => end_ns))).toBeGreaterThan(lastEnd_ns);
  expect(new Set(server.requests.map(({ body }) => body)).size).toBe(20 + cooled.length);
  expect(outcome.status).toBe('completed');
  expect(outcome.phases).toMatchObject([
    { phase: 'measure', requests: { ok: 20 }, sent: 20, end_ns: lastEnd_ns },
    { phase: 'cooldown', requests: { ok: cooled.length }, sent: cooled.length },
  ]);
  const edges = recorder.calls.filter((call) => /start|end /.test(call));
  expect(edges).toEqual(['start measure', 'end measure', 'start cooldown', 'end cooldown']);
});

test('without a cool-down the last request runs alone', async () => {
  const { recorder } = await run({}, slowLast);
  expect(recorder.of('cooldown')).toEqual([]);
  expect(outsideFullLoad(recorder.of('measure'), fullLoad(recorder.records, CONCURRENCY))).not.toEqual([]);
});

test('after a duration', async () => {
  const script = after((position) => (position % 7 === 0 ? 300 : 20));
  const { outcome, recorder } = await run({ requestCount: null, durationSeconds: 0.5, coolDown: true }, script);
  const measured = recorder.of('measure');
  expect(outsideFullLoad(measured, fullLoad(recorder.records, CONCURRENCY))).toEqual([]);
  const start_ns = outcome.phases[0]?.start_ns ?? NaN;
  for (const { sent_ns } of recorder.of('cooldown')) expect(sent_ns - start_ns).toBeGreaterThanOrEqual(0.5e9);
  expect(outcome.phases.map(({ requests }) => [requests.cancelled, requests.error])).toEqual([
    [0, 0],
    [0, 0],
  ]);
});

test('one slot is never free before the end, so there is no cool-down', async () => {
  const { outcome, recorder } = await run({ coolDown: true, concurrency: 1, requestCount: 3 }, slowLast);
  expect(recorder.records).toHaveLength(3);
  expect(outcome.phases.map(({ phase }) => phase)).toEqual(['measure']);
});

test('requests in flight after the grace period are cancelled, and those of the cool-down get one of their own', async () => {
  const neverEnds: Script = (socket, { position }) => {
    if (position === 0) socket.write(STREAM_HEAD + httpChunk(sse(delta('x'))));
    else setTimeout(() => socket.write(streamOf(GOOD_STREAM)), 200);
  };
  const limits = { requestCount: null, durationSeconds: 0.3, gracePeriodSeconds: 1 };
  const { outcome, recorder } = await run({ ...limits, coolDown: true }, neverEnds);
  expect(outcome.phases[0]?.requests).toMatchObject({ cancelled: 1, error: 0, timeout: 0 });
  expect(recorder.of('measure')[0]?.outcome).toBe('cancelled');
  const cooled = recorder.of('cooldown');
  expect(cooled.length).toBeGreaterThan(3);
  expect(recorder.inFlight).toBe(0);
});

test('a drained run has no cool-down', async () => {
  const controls = new RunControls();
  const script: Script = (socket, request) => {
    if (request.position === 9) controls.drain();
    return slowLast(socket, request);
  };
  const { outcome, recorder } = await run({ requestCount: 1000, coolDown: true }, script, controls);
  expect(outcome.status).toBe('aborted');
  expect(recorder.of('cooldown')).toEqual([]);
  expect(recorder.calls.at(-1)).toBe('end measure');
});

test('drained in the cool-down, it sends nothing more and the measured requests end', async () => {
  const controls = new RunControls();
  const script: Script = (socket, request) => {
    if (request.position === 25) controls.drain();
    return slowLast(socket, request);
  };
  const { recorder } = await run({ coolDown: true }, script, controls);
  expect(recorder.of('measure')).toHaveLength(20);
  expect(recorder.of('cooldown').length).toBeLessThanOrEqual(6);
});

test('the limit of output tokens includes the cool-down', async () => {
  // Each request may generate 8 tokens and generates 2.
  const limit = 80;
  const { outcome, recorder } = await run({ coolDown: true, maxOutputTokensTotal: limit }, slowLast);
  expect(recorder.of('measure')).toHaveLength(20);
  const generated = recorder.records.reduce((sum, { output_tokens }) => sum + (output_tokens ?? NaN), 0);
  expect(generated).toBeLessThanOrEqual(limit);
  expect(outcome.status).toBe('completed');
  expect(outcome.phases.map(({ overBudget }) => overBudget)).toEqual([
    null,
    'ended early: one more request could pass the limit of 80 output tokens',
  ]);
});

test('errors in the cool-down end the run', async () => {
  const script: Script = (socket, { position }) => {
    if (position < 19) return socket.write(streamOf(GOOD_STREAM));
    if (position === 19) return setTimeout(() => socket.write(streamOf(GOOD_STREAM)), 3000);
    return setTimeout(() => socket.write(response('500 X', 'application/json', '{"error":"out of order"}')), 5);
  };
  const { outcome, recorder } = await run({ coolDown: true, errorLimit: { errors: 10 } }, script);
  expect(outcome).toMatchObject({
    status: 'failed',
    failure: 'stopped after 10 errors (--stop-after-errors); the last: http_5xx (HTTP 500: out of order)',
  });
  expect(recorder.of('measure').map(({ outcome: each }) => each)).toEqual(Array(20).fill('ok'));
});
