import { ExpectedError } from '../../errors/expected-error.ts';
import { afterEach, expect, test } from '@jest/globals';
import { runEpoch } from '../../clock/monotonic-clock.ts';
import { runBenchmark, type BenchmarkOutcome } from '../run-benchmark.ts';
import { RunControls } from '../phases/run-controls.ts';
import { benchmarkPlan, Recorder } from '../testing/benchmark-run.ts';
import { GOOD_STREAM, scriptedServer, sse, streamOf } from '../testing/scripted-server.ts';
import type { Script, ScriptedServer } from '../testing/scripted-server.ts';
import { UndiciTransport } from '../transports/undici-transport.ts';
import type { FailingSetup } from './testing/failing-worker.ts';
import { WorkerLoad } from './worker-load.ts';

const ENTRY = new URL('./testing/failing-worker.ts', import.meta.url);

let server: ScriptedServer | null = null;
afterEach(() => server?.close());

interface Made {
  readonly outcome: BenchmarkOutcome;
  readonly recorder: Recorder;
}

async function made(script: Script, setup: Omit<FailingSetup, 'origin'>, workers = 2): Promise<Made> {
  server = await scriptedServer(script);
  const recorder = new Recorder();
  const controls = new RunControls();
  const epoch = runEpoch();
  const generator = new WorkerLoad(ENTRY, { ...setup, origin: server.origin } satisfies FailingSetup, workers);
  const transport = new UndiciTransport({ origin: server.origin });
  const observers = [recorder];
  try {
    await generator.begin({ epoch_ns: epoch.monotonic_ns, includeUsage: true });
    const plan = benchmarkPlan({ requestCount: setup.requestCount });
    const outcome = await runBenchmark(plan, {
      transport,
      observers,
      controls,
      epoch,
      generator: generator.lead({ observers, controls }),
    });
    return { outcome, recorder };
  } finally {
    await generator.close();
    await transport.close();
  }
}

test('workers on one clock: phases, counts and health of all', async () => {
  const good: Script = (socket) => socket.write(streamOf(GOOD_STREAM));
  const { outcome, recorder } = await made(good, { requestCount: 60, failsAfter: Infinity }, 3);
  const { requests } = server ?? { requests: [] };
  expect(outcome).toMatchObject({ status: 'completed', failure: null, phases: [{ sent: 60, requests: { ok: 60 } }] });
  expect(requests).toHaveLength(60);
  expect(recorder.calls.at(0)).toBe('start measure');
  expect(recorder.calls.at(-1)).toBe('end measure');
  const [phase] = outcome.phases;
  const measured = recorder.of('measure');
  expect(phase?.start_ns).toBe(Math.min(...measured.map(({ sent_ns }) => sent_ns)));
  expect(phase?.end_ns).toBe(Math.max(...measured.map(({ end_ns }) => end_ns)));
  for (const { due_ns, sent_ns } of measured) expect(sent_ns).toBeGreaterThanOrEqual(due_ns ?? NaN);
  expect(outcome.health.cpu_seconds).toBeGreaterThan(0);
  expect(outcome.health.event_loop_delay_p99_seconds).toBeGreaterThanOrEqual(0);
});

test('what workers found of responses is reported together', async () => {
  const odd = [sse({ type: 'ping' }), sse({ choices: [{ delta: { say: 'a' } }] }), ...GOOD_STREAM];
  const { outcome } = await made((socket) => socket.write(streamOf(odd)), { requestCount: 20, failsAfter: Infinity });
  expect(outcome.phases[0]?.findings).toMatchObject({ ignoredEvents: { ping: 20 } });
  expect(Object.keys(outcome.phases[0]?.findings?.unknownFields ?? {})).toEqual(['delta.say']);
});

test('a worker that ends: the run fails, the others finish their requests in flight, and all measurements are kept', async () => {
  const slow: Script = (socket) => setTimeout(() => socket.write(streamOf(GOOD_STREAM)), 2);
  const { outcome, recorder } = await made(slow, { requestCount: 100_000, failsAfter: 150 });
  expect(outcome.status).toBe('failed');
  expect(outcome.failure).toContain('worker 2 of 2 ended: it fails on purpose');
  const [phase] = outcome.phases;
  expect(recorder.records).toHaveLength(phase?.requests.ok ?? NaN);
  expect(phase?.requests.ok).toBeGreaterThan(0);
  expect(recorder.calls.at(-1)).toBe('end measure');
});

test('a worker that cannot begin is reported before anything is sent', async () => {
  server = await scriptedServer(() => undefined);
  const load = new WorkerLoad(new URL('./testing/no-such-worker.ts', import.meta.url), {}, 2);
  await expect(load.begin({ epoch_ns: 0, includeUsage: true })).rejects.toThrow(ExpectedError);
  await load.close();
  expect(server.requests).toHaveLength(0);
});
