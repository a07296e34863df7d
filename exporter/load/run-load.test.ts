import { describe, expect, test } from '@jest/globals';
import type { RatePlan } from './schedule/load-plan.ts';
import { RunControls } from './phases/run-controls.ts';
import { benchmarkPlan, benchmarkRun as run, type PlanChanges } from './testing/benchmark-run.ts';
import { delta, GOOD_STREAM, httpChunk, sse, STREAM_HEAD, streamOf } from './testing/scripted-server.ts';
import type { Script } from './testing/scripted-server.ts';

const good: Script = (socket) => socket.write(streamOf(GOOD_STREAM));
const RATE: RatePlan = { kind: 'rate', requestRate: 500, pattern: 'poisson', smoothness: 1, rampSeconds: 0, seed: 7 };

/** Requests at the times of their dataset. */
function traced(due_ns: Float64Array): PlanChanges {
  const { form } = benchmarkPlan({});
  const arrivals = { kind: 'trace', autoOffset: false, startOffset_ms: null, endOffset_ms: null } as const;
  return { concurrency: null, arrivals, form: { ...form, dataset: { ...form.dataset, due_ns } } };
}

/** Answers only when so many requests have come. */
function together(count: number): Script {
  const waiting: (() => void)[] = [];
  return (socket) => {
    waiting.push(() => socket.write(streamOf(GOOD_STREAM)));
    if (waiting.length === count) for (const response of waiting) response();
  };
}

describe('open loop', () => {
  test('requests are sent at their times, never early, though no answer has come', async () => {
    const { outcome, recorder } = await run({ concurrency: null, requestCount: 30, arrivals: RATE }, together(30));
    expect(outcome).toMatchObject({ status: 'completed', phases: [{ sent: 30, unsent: 0, requests: { ok: 30 } }] });
    const records = recorder.of('measure');
    for (const { sent_ns, due_ns } of records) expect(sent_ns).toBeGreaterThanOrEqual(due_ns);
    expect(recorder.mostInFlight).toBe(30);
  });

  test('the same seed plans the same times; the run ends with its last request', async () => {
    const planned = async (): Promise<number[]> => {
      const { recorder } = await run({ concurrency: null, requestCount: 10, arrivals: RATE }, good);
      const due = recorder.of('measure').map((record) => record.due_ns);
      return due.map((at) => at - (due[0] ?? NaN));
    };
    const first = await planned();
    expect(first).toHaveLength(10);
    expect(await planned()).toEqual(first);
  });

  test('a slow server delays requests and omits none', async () => {
    const slow: Script = (socket) => setTimeout(() => socket.write(streamOf(GOOD_STREAM)), 20);
    const arrivals: RatePlan = { ...RATE, pattern: 'constant', requestRate: 1000 };
    const { outcome, recorder } = await run({ concurrency: 1, requestCount: 8, arrivals }, slow);
    const records = recorder.of('measure');
    expect(outcome.phases[0]?.requests.ok).toBe(8);
    expect(recorder.mostInFlight).toBe(1);
    // Due every millisecond, answered every 20 ms at the best: the n-th is late by at least 19 n ms.
    records.forEach(({ due_ns, sent_ns }, n) => {
      expect(due_ns - (records[0]?.due_ns ?? NaN)).toBe(n * 1e6);
      expect(sent_ns - due_ns).toBeGreaterThanOrEqual(n * 18e6);
    });
  });

  test('requests that were due and found no slot before the end are counted', async () => {
    const controls = new RunControls();
    const script: Script = (socket, request) => {
      controls.drain();
      good(socket, request);
    };
    const changes = { ...traced(new Float64Array(5)), concurrency: 1, requestCount: null };
    const { outcome } = await run(changes, script, controls);
    expect(outcome.phases[0]).toMatchObject({ sent: 1, unsent: 4, requests: { ok: 1 } });
  });

  test('a trace: at the times given', async () => {
    const offsets_ns = Float64Array.of(0, 3e6, 3e6, 11e6);
    const { recorder } = await run({ ...traced(offsets_ns), requestCount: 4 }, good);
    const due = recorder.of('measure').map((record) => record.due_ns);
    expect(due.map((at) => at - (due[0] ?? NaN))).toEqual([...offsets_ns]);
  });
});

describe('limits', () => {
  test('prefill concurrency: a request waits for the first content of another, not for its end', async () => {
    let prefilling = 0;
    let most = 0;
    const ends: (() => void)[] = [];
    // A stream goes on to its end when two more requests have come, so that three are in flight.
    const script: Script = (socket, { position }) => {
      most = Math.max(most, ++prefilling);
      setImmediate(() => {
        prefilling--;
        socket.write(STREAM_HEAD + httpChunk(sse(delta('x'))));
        ends.push(() => socket.write(streamOf(GOOD_STREAM).slice(STREAM_HEAD.length)));
        if (position >= 2) ends.shift()?.();
        if (position === 11) for (const end of ends) end();
      });
    };
    const { outcome, recorder } = await run({ concurrency: 6, prefillConcurrency: 2, requestCount: 12 }, script);
    expect(outcome.phases[0]?.requests.ok).toBe(12);
    expect(most).toBeLessThanOrEqual(2);
    expect(recorder.mostInFlight).toBeGreaterThan(2);
  });

  test('output tokens: a run ends before it could generate more than its limit', async () => {
    // max_tokens is 8, each response has 2: after n answers 2n + 8 must fit into 20, so the 7th does and the 8th does not.
    const { outcome, server } = await run({ concurrency: 1, requestCount: 100, maxOutputTokensTotal: 20 }, good);
    expect(server.requests).toHaveLength(7);
    expect(outcome).toMatchObject({ status: 'completed', failure: null, phases: [{ requests: { ok: 7 } }] });
    expect(outcome.phases[0]?.overBudget).toBe(
      'ended early: one more request could pass the limit of 20 output tokens',
    );
  });

  test('output tokens used up by the warm-up: nothing was measured, and the reason is reported', async () => {
    const { outcome } = await run(
      { warmup: { concurrency: 1, requestCount: 50 }, requestCount: 5, maxOutputTokensTotal: 20 },
      good,
    );
    expect(outcome).toMatchObject({
      status: 'failed',
      failure: 'no request succeeded: ended early: one more request could pass the limit of 20 output tokens',
    });
  });
});

describe('warm-up', () => {
  test('with a load of its own, by duration; the indexes of the measure phase follow', async () => {
    const { outcome, recorder } = await run(
      { warmup: { concurrency: 2, requestCount: null, durationSeconds: 0.1 }, concurrency: 3, requestCount: 9 },
      good,
    );
    const warmup = recorder.of('warmup');
    expect(outcome.phases[0]?.sent).toBe(warmup.length);
    expect(recorder.of('measure').map((record) => record.index)).toEqual(
      Array.from({ length: 9 }, (_, i) => warmup.length + i),
    );
  });

  test('at a rate before a closed loop', async () => {
    const { recorder } = await run(
      { warmup: { concurrency: null, requestCount: 5, arrivals: RATE }, requestCount: 3 },
      good,
    );
    expect([recorder.of('warmup').length, recorder.of('measure').length]).toEqual([5, 3]);
  });
});

describe('cancelled on purpose', () => {
  const script: Script = (socket) => socket.write(STREAM_HEAD + httpChunk(sse(delta('x'))));

  test('all of them: after their first content, each with its record', async () => {
    const cancellation = { ratio: 1, delaySeconds: 0.05, seed: 1 };
    const { outcome, recorder } = await run({ requestCount: 6, cancellation }, script);
    expect(outcome.phases[0]?.requests).toEqual({ ok: 0, error: 0, timeout: 0, cancelled: 6 });
    expect(outcome.phases[0]?.messages.cancelled).toBe('cancelled on purpose after 0.05 s');
    // A timer may fire early by up to a millisecond.
    for (const { sent_ns, end_ns } of recorder.records) expect(end_ns - sent_ns).toBeGreaterThanOrEqual(49e6);
  });

  test('a share of them, the same for the same seed, and none of the warm-up', async () => {
    const cancelled = async (): Promise<number[]> => {
      const { recorder } = await run(
        {
          requestCount: 30,
          concurrency: 30,
          cancellation: { ratio: 0.4, delaySeconds: 0, seed: 3 },
          requestTimeoutSeconds: 0.2,
        },
        script,
      );
      return recorder.of('measure').flatMap((record) => (record.outcome === 'cancelled' ? [record.index] : []));
    };
    const first = await cancelled();
    expect(first.length).toBeGreaterThan(3);
    expect(first.length).toBeLessThan(27);
    expect(await cancelled()).toEqual(first);
  });
});
