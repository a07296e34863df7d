import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { DiskQueue, queueName, queuesDirectory } from '../../publish/remote-write/disk-queue.ts';
import { labelPairs } from '../../publish/remote-write/pushed-series.ts';
import {
  receiverServer,
  takeAll,
  type Handler,
  type ReceiverServer,
} from '../../publish/remote-write/testing/receiver-server.ts';
import { startSending } from '../../publish/remote-write/sending.ts';
import { ExitCode } from '../failure.ts';
import { run } from './push.ts';

let directory: string;
let receiver: ReceiverServer;
let answer: Handler;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-push-'));
  receiver = await receiverServer((...exchange) => answer(...exchange));
});

afterEach(async () => {
  jest.restoreAllMocks();
  await receiver.close();
  await rm(directory, { recursive: true });
});

/** Three points of two series that a run has left. */
function leaveSamples(): void {
  const left = join(queuesDirectory(directory), queueName({ runId: 'r1', shard: '0', owner: null }));
  const queue = DiskQueue.create(
    left,
    { schema_version: 1, url: receiver.url },
    { maxBytes: 1e6, problem: (line) => expect(line).toBe('') },
  );
  queue.declare(1, {
    families: [{ name: 'llmbench_requests_total', type: 'counter', help: 'Requests.' }],
    series: ['ok', 'error'].map((outcome) => ({
      family: 0,
      labels: labelPairs('llmbench_requests_total', { run_id: 'r1', outcome }),
    })),
    nativeSeries: [],
    created_ms: 500,
  });
  for (let i = 1; i <= 3; i++) queue.append(1, { time_ms: 1000 * i, values: [i, 0], native: [] });
  queue.close(left);
}

async function pushed(...argv: string[]): Promise<{ code: number; said: string }> {
  let said = '';
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  const code = await run(['--runs-dir', directory, '--remote-write-url', receiver.url, ...argv]);
  return { code, said };
}

const status =
  (code: number, headers: Record<string, string> = {}, text = ''): Handler =>
  (_request, response) =>
    void response.writeHead(code, headers).end(text);

test.each<[name: string, protocol: string, refuse: Handler, cause: string]>([
  ['401', 'auto', status(401), 'HTTP 401; check the credentials'],
  ['400 to protocol 1', '1', status(400, {}, 'no tenant'), 'HTTP 400: no tenant; the receiver has accepted no request'],
  ['415 to both protocols', 'auto', status(415), 'HTTP 415; the receiver does not support'],
  ['a redirect', 'auto', status(302), 'HTTP 302; the receiver redirects'],
  ['an HTML page', 'auto', status(200, { 'content-type': 'text/html' }), 'HTTP 200 with an HTML page'],
  [
    'no sample counted as written',
    '2',
    status(204, { 'x-prometheus-remote-write-samples-written': '0' }),
    'the receiver reports success and 0 of 6 samples written',
  ],
])('%s: the samples stay, exit code 1 and the cause; corrected, all arrive', async (_name, protocol, refuse, cause) => {
  leaveSamples();
  answer = refuse;
  const failed = await pushed('--remote-write-protocol', protocol);
  expect(failed.said).toContain(`6 samples are still queued (${cause}`);
  expect(failed.code).toBe(ExitCode.failed);
  answer = takeAll;
  const corrected = await pushed();
  expect(corrected.said).toContain('6 samples of 1 run written, 0 dropped');
  expect(corrected.code).toBe(ExitCode.done);
});

test('some samples counted as written: which ones is unknown, so the rest is dropped, with exit code 1 and the cause', async () => {
  leaveSamples();
  answer = status(204, { 'x-prometheus-remote-write-samples-written': '5' });
  const { code, said } = await pushed('--remote-write-protocol', '2');
  expect(said).toContain('the receiver counts fewer samples than were sent');
  expect(said).toContain('5 samples of 1 run written, 1 dropped');
  expect(code).toBe(ExitCode.failed);
});

test('a receiver that does not respond is reported once while it is waited for', async () => {
  leaveSamples();
  let release: () => void = () => undefined;
  answer = (...exchange) => void (release = () => takeAll(...exchange));
  let said = '';
  jest.spyOn(process.stderr, 'write').mockImplementation((line) => {
    said += String(line);
    if (String(line).includes('trying again')) release();
    return true;
  });
  const code = await run(['--runs-dir', directory, '--remote-write-url', receiver.url, '--timeout', '100']);
  expect(said).toMatch(
    /^remote write: no response for \d s; trying again for up to 9\d s\n6 samples of 1 run written, 0 dropped\n$/,
  );
  expect(code).toBe(ExitCode.done);
}, 60_000);

test('a runs directory that does not exist has not proved that anything arrived', async () => {
  const missing = ['--runs-dir', join(directory, 'mistyped'), '--remote-write-url', receiver.url];
  await expect(run(missing)).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringMatching(/^--runs-dir .*mistyped does not exist: /),
  });
});

test('samples that a run itself had dropped: exit code 1, once, and how to send the results again', async () => {
  const sending = startSending(
    {
      ...{ runsDirectory: directory, runId: 'r1', shard: '0', version: '0', maxQueueBytes: 1e6, customBuckets: false },
      receiver: { url: receiver.url, headers: {}, tls: {}, secrets: [], protocol: '2' },
    },
    () => undefined,
  );
  answer = status(204, { 'x-prometheus-remote-write-samples-written': '1' });
  sending.declare(1, {
    families: [{ name: 'a', type: 'gauge', help: '' }],
    series: ['x', 'y'].map((of) => ({ family: 0, labels: labelPairs('a', { run_id: 'r1', of }) })),
    nativeSeries: [],
    created_ms: null,
  });
  sending.append(1, { time_ms: 1000, values: [1, 2], native: [] });
  expect(await sending.finish(20)).toMatchObject({ written: 1, rejected: 1, waiting: 0 });
  const first = await pushed();
  expect(first.said).toBe(
    '0 samples of 1 run written, 0 dropped\n' +
      '1 sample of r1 had been rejected and dropped before; `llmbench backfill` sends the results of finished runs again\n',
  );
  expect(first.code).toBe(ExitCode.failed);
  const second = await pushed();
  expect(second.said).toBe('0 samples of 0 runs written, 0 dropped\n');
  expect(second.code).toBe(ExitCode.done);
  expect(await readdir(queuesDirectory(directory))).toEqual([]);
});
