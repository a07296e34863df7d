import { describe, expect, test } from '@jest/globals';
import type { PhaseName } from '../../core/run/record.ts';
import { RunControls } from './phases/run-controls.ts';
import { benchmarkRun as run } from './testing/benchmark-run.ts';
import {
  response,
  delta,
  GOOD_STREAM,
  httpChunk,
  sse,
  STREAM_HEAD,
  streamOf,
  usage,
} from './testing/scripted-server.ts';
import type { Script } from './testing/scripted-server.ts';

const good: Script = (socket) => socket.write(streamOf(GOOD_STREAM));
const silent: Script = () => undefined;

describe('a run by request count', () => {
  test('sends each request of the plan once, never more than the concurrency at a time', async () => {
    const { outcome, recorder, server } = await run({}, good);
    expect(outcome).toMatchObject({ status: 'completed', failure: null });
    expect(outcome.phases).toHaveLength(1);
    expect(outcome.phases[0]).toMatchObject({
      phase: 'measure',
      requests: { ok: 20, error: 0, timeout: 0, cancelled: 0 },
      errors: {},
      connectionRetries: 0,
    });
    expect(recorder.records.map((record) => record.index).sort((a, b) => a - b)).toEqual([...Array(20).keys()]);
    expect([recorder.mostInFlight, recorder.inFlight, recorder.firstContents, recorder.gaps]).toEqual([4, 0, 20, 20]);
    expect(server.connections()).toBe(4);
    expect(new Set(server.requests.map((request) => request.body)).size).toBe(20);
  });

  test('a slot is due again when its answer has ended; the first are due together', async () => {
    const { recorder, outcome } = await run({ concurrency: 2, requestCount: 6 }, good);
    const byIndex = [...recorder.records].sort((a, b) => a.index - b.index);
    expect(byIndex[0]?.due_ns).toBe(byIndex[1]?.due_ns);
    const ends = byIndex.map((record) => record.end_ns);
    for (const record of byIndex.slice(2)) expect(ends).toContain(record.due_ns);
    for (const record of byIndex) expect(record.sent_ns).toBeGreaterThanOrEqual(record.due_ns);
    expect(outcome.phases[0]?.start_ns).toBeLessThanOrEqual(byIndex[0]?.sent_ns ?? NaN);
    expect(outcome.phases[0]?.end_ns).toBe(Math.max(...ends));
  });

  test('the warm-up ends before the measure phase begins, and its texts do not recur', async () => {
    const { outcome, recorder, server } = await run({ warmup: { requestCount: 5 }, requestCount: 7 }, good);
    const edges = recorder.calls.filter((call) => /start|end /.test(call));
    expect(edges).toEqual(['start warmup', 'end warmup', 'start measure', 'end measure']);
    const lastOfWarmup = recorder.calls.lastIndexOf('ended warmup');
    expect(recorder.calls.indexOf('end warmup')).toBeGreaterThan(lastOfWarmup);
    expect(recorder.calls.indexOf('sent measure')).toBeGreaterThan(recorder.calls.indexOf('end warmup'));
    expect(outcome.phases.map((phase) => phase.requests.ok)).toEqual([5, 7]);
    const indexes = (phase: PhaseName): number[] =>
      recorder.records
        .filter((record) => record.phase === phase)
        .map((record) => record.index)
        .sort((a, b) => a - b);
    expect(indexes('warmup')).toEqual([0, 1, 2, 3, 4]);
    expect(indexes('measure')).toEqual([5, 6, 7, 8, 9, 10, 11]);
    expect(new Set(server.requests.map((request) => request.body)).size).toBe(12);
  });

  test('fewer requests than slots', async () => {
    const { outcome, recorder } = await run({ concurrency: 16, requestCount: 3 }, good);
    expect(outcome.phases[0]?.requests.ok).toBe(3);
    expect(recorder.mostInFlight).toBe(3);
  });
});

describe('a run by duration', () => {
  test('sends nothing after it and lets requests in flight finish', async () => {
    const { outcome, recorder } = await run({ requestCount: null, durationSeconds: 0.3 }, good);
    expect(outcome.status).toBe('completed');
    const start = outcome.phases[0]?.start_ns ?? NaN;
    expect(recorder.records.length).toBeGreaterThan(0);
    expect(recorder.records.every((record) => record.outcome === 'ok')).toBe(true);
    for (const record of recorder.records) expect(record.sent_ns - start).toBeLessThan(5e9);
  });

  test('cancels what is not finished after the grace period', async () => {
    const script: Script = (socket) => socket.write(STREAM_HEAD + httpChunk(sse(delta('x'))));
    const changes = { requestCount: null, durationSeconds: 0.1, gracePeriodSeconds: 0.1 };
    const { outcome, recorder, server } = await run(changes, script);
    expect(outcome.phases[0]?.requests).toEqual({ ok: 0, error: 0, timeout: 0, cancelled: 4 });
    expect(recorder.inFlight).toBe(0);
    expect(server.requests).toHaveLength(4);
  });
});

describe('ending early', () => {
  test('drain: no new request, those under way end, and the run is aborted', async () => {
    const controls = new RunControls();
    const { outcome, recorder, server } = await run(
      { requestCount: 1000 },
      (socket, { position }) => {
        if (position === 9) controls.drain();
        setTimeout(() => socket.write(streamOf(GOOD_STREAM)), 20);
      },
      controls,
    );
    expect(outcome.status).toBe('aborted');
    expect(server.requests.length).toBeLessThan(20);
    expect(outcome.phases[0]?.requests).toEqual({ ok: server.requests.length, error: 0, timeout: 0, cancelled: 0 });
    expect(recorder.calls.at(-1)).toBe('end measure');
  });

  test('abort: requests in flight are cancelled and recorded', async () => {
    const controls = new RunControls();
    const script: Script = (socket, { position }) => {
      if (position < 6) good(socket, { head: '', body: '', connection: 0, position });
      else if (position === 9) setImmediate(() => controls.abort());
    };
    const { outcome, recorder } = await run({ requestCount: 1000 }, script, controls);
    expect(outcome.status).toBe('aborted');
    expect(outcome.phases[0]?.requests).toEqual({ ok: 6, error: 0, timeout: 0, cancelled: 4 });
    expect(outcome.phases[0]?.errors).toEqual({ cancelled: 4 });
    expect(recorder.records).toHaveLength(10);
  });

  test('drain during the warm-up: the measure phase does not begin', async () => {
    const controls = new RunControls();
    const script: Script = (socket, request) => {
      controls.drain();
      good(socket, request);
    };
    const { outcome, recorder } = await run({ warmup: { requestCount: 50 } }, script, controls);
    expect(outcome.status).toBe('aborted');
    expect(outcome.phases.map((phase) => phase.phase)).toEqual(['warmup']);
    expect(recorder.calls).not.toContain('start measure');
  });

  test('drained before it began', async () => {
    const controls = new RunControls();
    controls.drain();
    const { outcome, server } = await run({}, good, controls);
    expect(outcome).toMatchObject({ status: 'aborted', phases: [] });
    expect(server.requests).toHaveLength(0);
  });
});

describe('servers that fail', () => {
  test('a server that answers only with errors gets no more requests', async () => {
    const script: Script = (socket) => socket.write(response('500 X', 'application/json', '{"error":"out of order"}'));
    const { outcome, server } = await run({ requestCount: 10_000 }, script);
    expect(outcome.status).toBe('failed');
    expect(outcome.failure).toBe(
      'stopped after 48 of 50 requests failed (--stop-after-errors); the last: http_5xx (HTTP 500: out of order)',
    );
    expect(server.requests.length).toBeLessThanOrEqual(54);
    expect(outcome.phases[0]?.errors.http_5xx).toBe(server.requests.length);
    expect(outcome.phases[0]?.messages).toEqual({ http_5xx: 'HTTP 500: out of order' });
  });

  test('errors that come before all responses of a round do not, when most requests succeed', async () => {
    // Equal lengths: the errors of a round end first, here 60 of 400.
    const waiting: (() => void)[] = [];
    const script: Script = (socket, { position }) => {
      const isError = position % 400 < 60;
      if (isError) return socket.write(response('500 X', 'text/plain', 'no'));
      waiting.push(() => socket.write(streamOf(GOOD_STREAM)));
      if (position % 400 === 399) setTimeout(() => waiting.splice(0).forEach((respond) => respond()), 100);
      return undefined;
    };
    const { outcome } = await run({ requestCount: 800, concurrency: 400 }, script);
    expect(outcome).toMatchObject({ status: 'completed', failure: null });
    expect(outcome.phases[0]?.requests).toMatchObject({ ok: 680, error: 120 });
  });

  test('a number of errors ends it, whatever succeeds between them', async () => {
    const script: Script = (socket, { position }) =>
      socket.write(position % 2 === 1 ? streamOf(GOOD_STREAM) : response('500 X', 'text/plain', 'no'));
    const { outcome } = await run({ requestCount: 100, concurrency: 1, errorLimit: { errors: 5 } }, script);
    expect(outcome.failure).toBe('stopped after 5 errors (--stop-after-errors); the last: http_5xx (HTTP 500: no)');
    expect(outcome.phases[0]?.requests).toMatchObject({ ok: 4, error: 5 });
  });

  test('no limit', async () => {
    const script: Script = (socket) => socket.write(response('500 X', 'text/plain', ''));
    const { outcome } = await run({ requestCount: 120, errorLimit: null }, script);
    expect(outcome.phases[0]?.requests).toMatchObject({ error: 120 });
  });

  test('a smaller share of errors does not', async () => {
    const script: Script = (socket, { position }) =>
      socket.write(position % 5 === 4 ? streamOf(GOOD_STREAM) : response('500 X', 'text/plain', ''));
    const { outcome } = await run({ requestCount: 100, concurrency: 1 }, script);
    expect(outcome.status).toBe('completed');
    expect(outcome.phases[0]?.requests).toMatchObject({ ok: 20, error: 80 });
  });

  test('too many errors in the warm-up: the measure phase does not begin', async () => {
    const script: Script = (socket) => socket.write(response('500 X', 'text/plain', ''));
    const { outcome } = await run({ warmup: { requestCount: 100 }, errorLimit: { errors: 10 } }, script);
    expect(outcome.status).toBe('failed');
    expect(outcome.phases.map((phase) => phase.phase)).toEqual(['warmup']);
  });

  test('no request succeeded', async () => {
    const { outcome } = await run({ requestCount: 3 }, (socket) =>
      socket.write(response('404 X', 'text/plain', 'gone')),
    );
    expect(outcome).toMatchObject({ status: 'failed', failure: 'no request succeeded: http_4xx (HTTP 404: gone)' });
  });

  test('the failed request threshold', async () => {
    const script: Script = (socket, { position }) =>
      socket.write(position < 5 ? response('500 X', 'text/plain', '') : streamOf(GOOD_STREAM));
    expect((await run({ failedRequestThreshold: 0.2 }, script)).outcome).toMatchObject({
      status: 'failed',
      failure: '5 of 20 requests failed, more than the threshold 0.2',
    });
    expect((await run({ failedRequestThreshold: 0.25 }, script)).outcome.status).toBe('completed');
  });

  test('Retry-After: the slot waits, the wait is no latency', async () => {
    const { outcome, recorder } = await run({ requestCount: 2, concurrency: 1 }, (socket, { position }) => {
      socket.write(position === 0 ? response('429 X', 'text/plain', '', 'retry-after: 1\r\n') : streamOf(GOOD_STREAM));
    });
    const [rejected, next] = recorder.records;
    expect(outcome.phases[0]?.errors).toEqual({ http_429: 1 });
    expect((next?.due_ns ?? 0) - (rejected?.end_ns ?? 0)).toBeGreaterThanOrEqual(1e9);
    expect(next?.sent_ns).toBeGreaterThanOrEqual(next?.due_ns ?? NaN);
  });

  test('a wait that the server requested does not delay the end of the run', async () => {
    const controls = new RunControls();
    const { outcome, recorder } = await run(
      { requestCount: 10, concurrency: 2 },
      (socket, { position }) => {
        socket.write(response('503 X', 'text/plain', '', 'retry-after: 60\r\n'));
        if (position === 1) setTimeout(() => controls.drain(), 50);
      },
      controls,
    );
    expect(outcome.status).toBe('aborted');
    expect(recorder.records).toHaveLength(2);
  });

  test('a retried connection is counted', async () => {
    const { outcome } = await run({ requestCount: 3, concurrency: 1 }, (socket, { position }) => {
      if (position === 1) socket.resetAndDestroy();
      else socket.write(streamOf(GOOD_STREAM));
    });
    expect(outcome.phases[0]).toMatchObject({ connectionRetries: 1, requests: { ok: 3 } });
  });

  test('a silent server: every request times out', async () => {
    const { outcome } = await run({ requestCount: 4, requestTimeoutSeconds: 0.1 }, silent);
    expect(outcome.phases[0]?.requests).toEqual({ ok: 0, error: 0, timeout: 4, cancelled: 0 });
    expect(outcome.failure).toContain('request_timeout');
  });
});

test('responses never mix between connections', async () => {
  // Each response carries as many chunks and output tokens as its request's prompt is long in letters, modulo 50.
  const expected = (body: string): number => (body.length % 50) + 1;
  const script: Script = (socket, { body }) => {
    const tokens = expected(body);
    const pieces = streamOf([
      ...Array.from({ length: tokens }, () => sse(delta('x'))),
      sse(delta('', 'stop')),
      sse(usage(body.length, tokens)),
      sse('[DONE]'),
    ]).match(/[^]{1,200}/g);
    const next = (i: number): void => {
      const piece = pieces?.[i];
      if (piece !== undefined) socket.write(piece, () => setImmediate(next, i + 1));
    };
    next(0);
  };
  const { recorder, server } = await run({ concurrency: 16, requestCount: 200 }, script);
  const sent = new Map(server.requests.map((request) => [request.body.length, expected(request.body)]));
  expect(recorder.records).toHaveLength(200);
  for (const record of recorder.records) {
    expect(record.outcome).toBe('ok');
    expect(record.output_tokens).toBe(sent.get(record.input_tokens ?? -1));
    expect(record.chunk_offsets_ns).toHaveLength(record.output_tokens ?? -1);
  }
});

describe('a common start', () => {
  test('that passed too long ago: no request of the phase is sent', async () => {
    const { outcome, recorder, server } = await run({ measureStart_ns: -6e9 }, good);
    expect(outcome.status).toBe('failed');
    const late = /^the common start passed (\d+\.\d) s before the measure phase could begin$/;
    expect(outcome.failure).toMatch(late);
    expect(Number(late.exec(outcome.failure ?? '')?.[1])).toBeGreaterThanOrEqual(6);
    expect([recorder.calls, server.requests]).toEqual([[], []]);
  });

  test('in the future is awaited; due times are relative to it', async () => {
    const { outcome, recorder } = await run({ measureStart_ns: 300e6, requestCount: 6, concurrency: 2 }, good);
    expect(outcome.status).toBe('completed');
    const due = recorder.of('measure').map((record) => record.due_ns ?? NaN);
    expect(due.slice(0, 2)).toEqual([300e6, 300e6]);
    for (const { due_ns, sent_ns } of recorder.records) expect(sent_ns).toBeGreaterThanOrEqual(due_ns ?? NaN);
  });

  test('aborted while it is awaited', async () => {
    const controls = new RunControls();
    setTimeout(() => controls.drain(), 20);
    const { outcome, server } = await run({ measureStart_ns: 3600e9 }, good, controls);
    expect(outcome).toMatchObject({ status: 'aborted', failure: 'ended early: requests in flight were completed' });
    expect(server.requests).toEqual([]);
  });
});

test('a shard sends its requests and no others, under their own numbers', async () => {
  const { recorder } = await run(
    { shard: { part: 1, parts: 3 }, warmup: { requestCount: 4 }, requestCount: 8, concurrency: 6 },
    good,
  );
  // Of four in the warm-up the second; of eight measured the second, the fifth and the eighth.
  expect(recorder.of('warmup').map(({ index }) => index)).toEqual([1]);
  expect(recorder.of('measure').map(({ index }) => index)).toEqual([4 + 1, 4 + 4, 4 + 7]);
  expect(recorder.mostInFlight).toBeLessThanOrEqual(2);
});
