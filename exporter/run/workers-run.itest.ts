import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SummaryAccumulator } from '../../core/measures/summary.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import { servedAlone } from '../http/testing/served-alone.ts';
import { RunControls } from '../load/phases/run-controls.ts';
import type { RunEvents } from '../../core/run/run-output.ts';
import { response, GOOD_STREAM, scriptedServer, streamOf } from '../load/testing/scripted-server.ts';
import type { Script, ScriptedServer } from '../load/testing/scripted-server.ts';
import { readOptions } from '../cli/options/options.ts';
import { RUN_OPTIONS, runRequests } from '../cli/options/run-options.ts';
import { openStore } from '../store/run-store.ts';
import { performRun } from './perform-run.ts';
import type { PerformedRun } from './perform-run.ts';
import type { RunRequest } from './run-request.ts';

/** Answers the n-th request for a response; that of number 0 is the probe. */
type Responses = (socket: Parameters<Script>[0], n: number) => unknown;

const good: Responses = (socket) => socket.write(streamOf(GOOD_STREAM));

let folder = '';
let server: ScriptedServer | null = null;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-workers-run-'));
});
afterEach(async () => {
  await server?.close();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

interface Measured {
  readonly performed: PerformedRun;
  readonly records: readonly RequestRecord[];
  /** Bodies that the server got after the probe, in alphabetical order. */
  readonly bodies: readonly string[];
}

interface Watched {
  readonly controls?: RunControls;
  readonly observer?: RunEvents;
}

async function run(responses: Responses, argv: readonly string[], watched: Watched = {}): Promise<Measured> {
  let generations = 0;
  server = await scriptedServer((socket, { head }) =>
    head.startsWith('POST ') ? responses(socket, generations++) : socket.write(response('404 X', 'text/plain', '')),
  );
  const runs = join(folder, 'runs');
  const where = ['--url', server.origin, '--model', 'm', '--runs-dir', runs];
  const basics = ['--no-server-metrics', '--linger', 'no', '--isl', '6', '--osl', '8', '--random-seed', '3'];
  const [request] = runRequests(readOptions(RUN_OPTIONS, [...where, ...basics, ...argv], {}));
  const host = {
    servePage: servedAlone,
    say: () => undefined,
    observe: () => ({ ...watched.observer, stop: () => undefined }),
  };
  const performed = await performRun(request as RunRequest, watched.controls ?? new RunControls(), host, '0.0.0');
  const { store } = await openStore(runs);
  const records: RequestRecord[] = [];
  for await (const record of store.readRecords({ run_id: performed.result.run_id, shard: '0' })) records.push(record);
  // The first one that asks for a response is the probe.
  const asking = server.requests.filter(({ head }) => head.startsWith('POST '));
  const bodies = asking.slice(1).map(({ body }) => body);
  await server.close();
  return { performed, records, bodies: bodies.sort() };
}

const indices = (records: readonly RequestRecord[]): number[] =>
  records.map(({ index }) => index).sort((a, b) => a - b);

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('the same requests, whatever the number of workers', () => {
  test.each([
    ['closed loop', ['--concurrency', '5', '--request-count', '23', '--warmup-request-count', '7']],
    ['rate', ['--request-rate', '400', '--request-count', '20', '--warmup-request-count', '4']],
    ['conversations', ['--concurrency', '3', '--request-count', '17', '--session-turns-mean', '3']],
  ])('%s', async (_, argv) => {
    const one = await run(good, [...argv, '--workers', '1']);
    const several = await run(good, [...argv, '--workers', '3']);
    expect(several.bodies).toEqual(one.bodies);
    expect(indices(several.records)).toEqual(upTo(one.bodies.length));
    const { requests, status, fingerprint } = several.performed.result;
    expect({ requests, status, fingerprint }).toEqual({
      requests: one.performed.result.requests,
      status: 'completed',
      fingerprint: one.performed.result.fingerprint,
    });
  });
});

test('arrivals of a rate: the same due times, and none is early', async () => {
  const planned = async (workers: string): Promise<number[]> => {
    const { records } = await run(good, ['--request-rate', '300', '--request-count', '40', '--workers', workers]);
    for (const { sent_ns, due_ns } of records) expect(sent_ns).toBeGreaterThanOrEqual(due_ns ?? NaN);
    const due = records.toSorted((a, b) => a.index - b.index).map(({ due_ns }) => due_ns ?? NaN);
    return due.map((at) => at - (due[0] ?? NaN));
  };
  const alone = await planned('1');
  expect(alone).toHaveLength(40);
  expect(await planned('2')).toEqual(alone);
});

test('the result is that of all records together', async () => {
  const script: Responses = (socket, n) =>
    socket.write(n % 5 === 4 ? response('500 X', 'text/plain', 'no') : streamOf(GOOD_STREAM));
  const { performed, records } = await run(script, [
    '--concurrency',
    '4',
    '--request-count',
    '40',
    '--workers',
    '2',
    '--goodput',
    'request_latency:60000',
  ]);
  expect(performed.result.requests).toEqual({ ok: 32, error: 8, timeout: 0, cancelled: 0 });
  expect(performed.result.errors).toEqual({ http_5xx: 8 });
  const goodput = [{ measure: 'request_latency', limit: 60, unit: 'seconds' }] as const;
  const summary = new SummaryAccumulator({ plannedConcurrency: 4, goodput });
  for (const record of records) summary.add(record);
  const chunks = summary.chunkReading();
  for (const record of records) chunks.add(record);
  const { measures, window } = summary.summarize(chunks);
  const ofClient = performed.result.measures.filter(({ origin }) => origin === 'client');
  expect(ofClient).toEqual(JSON.parse(JSON.stringify(measures)));
  const last_ns = Math.max(...records.map(({ end_ns }) => end_ns));
  expect(window?.end_ns).toBe(last_ns);
});

test('the observers have received every event when a phase has ended', async () => {
  const events = { sent: 0, first: 0, gaps: 0, ended: 0 };
  let atEnd = {};
  const observer: RunEvents = {
    requestSent: () => events.sent++,
    firstContent: () => events.first++,
    chunkGap: () => events.gaps++,
    requestEnded: () => events.ended++,
    phaseEnded: () => (atEnd = { ...events }),
  };
  await run(good, ['--concurrency', '6', '--request-count', '50', '--workers', '3'], { observer });
  expect(atEnd).toEqual({ sent: 50, first: 50, gaps: 50, ended: 50 });
});

describe('limits hold for all workers together', () => {
  test('a server that responds only with errors gets no more requests after 50 in a row', async () => {
    const script: Responses = (socket, n) =>
      socket.write(n === 0 ? streamOf(GOOD_STREAM) : response('500 X', 'text/plain', 'no'));
    const { performed, bodies } = await run(script, ['--concurrency', '4', '--request-count', '500', '--workers', '2']);
    expect(performed.result.status).toBe('failed');
    expect(performed.failure).toMatch(
      /^stopped after 48 of 50 requests failed \(--stop-after-errors\); the last: http_5xx/,
    );
    // Those that were under way when the fiftieth came are all that is beyond.
    expect(bodies.length).toBeGreaterThanOrEqual(50);
    expect(bodies.length).toBeLessThanOrEqual(50 + 3);
  });

  test('the limit of output tokens', async () => {
    // 10 answers may be under way; each turns out to have 2 tokens of 8.
    const slow: Responses = (socket) => setTimeout(() => socket.write(streamOf(GOOD_STREAM)), 30);
    const argv = ['--concurrency', '20', '--request-count', '100', '--max-output-tokens-total', '80', '--workers', '3'];
    const { performed, bodies } = await run(slow, argv);
    // It did what was requested; that it is less than was planned is said.
    expect(performed.result).toMatchObject({ status: 'completed', requests: { ok: 10 } });
    expect(performed.failure).toBeNull();
    expect(performed.notes.join('\n')).toContain('limit of 80 output tokens');
    expect(bodies).toHaveLength(10);
  });

  test('the share of failed requests', async () => {
    const script: Responses = (socket, n) =>
      socket.write(n % 4 === 3 ? response('500 X', 'text/plain', 'no') : streamOf(GOOD_STREAM));
    const argv = ['--concurrency', '4', '--request-count', '40', '--workers', '2', '--failed-request-threshold', '0.2'];
    const { performed } = await run(script, argv);
    expect(performed.failure).toBe('10 of 40 requests failed, more than the threshold 0.2');
  });
});

describe('ended early', () => {
  test('drained: requests in flight are read to their end, and every record is kept', async () => {
    const controls = new RunControls();
    const observer: RunEvents = { requestEnded: () => controls.drain() };
    const slow: Responses = (socket) => setTimeout(() => socket.write(streamOf(GOOD_STREAM)), 5);
    const argv = ['--concurrency', '4', '--request-count', '100000', '--workers', '2'];
    const { performed, records, bodies } = await run(slow, argv, { controls, observer });
    expect(performed.result).toMatchObject({ status: 'aborted', requests: { error: 0, cancelled: 0 } });
    expect(performed.failure).toContain('ended early');
    expect(records).toHaveLength(bodies.length);
    expect(performed.result.requests.ok).toBe(bodies.length);
  });

  test('aborted: requests in flight are cancelled and recorded as such', async () => {
    const controls = new RunControls();
    let sent = 0;
    const observer: RunEvents = {
      requestSent: () => {
        if (++sent === 4) controls.abort();
      },
    };
    const silent: Responses = (socket, n) => (n === 0 ? socket.write(streamOf(GOOD_STREAM)) : null);
    const argv = ['--concurrency', '4', '--request-count', '100', '--workers', '2'];
    const { performed, records } = await run(silent, argv, { controls, observer });
    expect(performed.result).toMatchObject({ status: 'aborted', requests: { ok: 0, cancelled: 4 } });
    expect(records).toHaveLength(4);
  });
});
