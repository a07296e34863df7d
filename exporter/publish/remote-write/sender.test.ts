import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { NativeHistogram } from '../../../core/histogram/native-histogram.ts';
import { Backoff } from '../../http-client/backoff.ts';
import { DiskQueue } from './disk-queue.ts';
import { labelPairs, type SeriesLayout } from './pushed-series.ts';
import type { ProtocolChoice, Receiver } from './receiver.ts';
import { RemoteWriteClient } from './remote-write-client.ts';
import { Sender } from './sender.ts';
import { receiverServer, takeAll, type Handler, type ReceivedRequest } from './testing/receiver-server.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

const layout: SeriesLayout = {
  families: [{ name: 'llmbench_requests_total', type: 'counter', help: 'Requests.' }],
  series: ['ok', 'error'].map((outcome) => ({
    family: 0,
    labels: labelPairs('llmbench_requests_total', { run_id: 'r', outcome }),
  })),
  nativeSeries: [],
  created_ms: 500,
};

const empty: NativeHistogram = {
  schema: 3,
  zeroThreshold: 2 ** -30,
  zeroCount: 0,
  count: 0,
  sum: 0,
  positive: [],
  negative: [],
  customBounds: null,
};

const withNative: SeriesLayout = {
  ...layout,
  nativeSeries: [{ family: 0, labels: labelPairs('llmbench_wait_seconds', { run_id: 'r' }) }],
};

interface Sending {
  readonly sender: Sender;
  readonly queue: DiskQueue;
  readonly folder: string;
  readonly problems: readonly string[];
}

function sending(url: string, changes: Partial<Receiver> = {}, totalTimeoutSeconds = 30): Sending {
  const folder = mkdtempSync(join(tmpdir(), 'llmbench-remote-write-'));
  cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
  const problems: string[] = [];
  const problem = (line: string): unknown => problems.push(line);
  const queue = DiskQueue.create(folder, { schema_version: 1, url }, { maxBytes: 1e6, problem });
  const receiver: Receiver = { url, headers: {}, tls: {}, secrets: [], protocol: 'auto', ...changes };
  const client = new RemoteWriteClient(receiver, '1.2.3', { connectTimeoutSeconds: 2, totalTimeoutSeconds });
  cleanUp.push(() => client.close());
  const sender = new Sender(queue, client, { protocol: receiver.protocol, backoff: new Backoff(() => 0), problem });
  cleanUp.push(() => sender.stop());
  return { sender, queue, folder, problems };
}

function append(queue: DiskQueue, points: number, of: SeriesLayout = layout): void {
  queue.declare(1, of);
  for (let i = 1; i <= points; i++) {
    queue.append(1, { time_ms: 1000 * i, values: [i, 0], native: of.nativeSeries.map(() => empty) });
  }
}

/** Values of the first series by time, as a receiver that took these requests has them. */
function received(requests: readonly ReceivedRequest[]): [number, unknown][] {
  return requests.flatMap(({ series }) =>
    series
      .filter(({ labels }) => labels['outcome'] === 'ok')
      .flatMap(({ samples }) => samples.map(({ time_ms, value }): [number, unknown] => [time_ms, value])),
  );
}

const inTurn =
  (...responses: readonly Handler[]): Handler =>
  (request, response, number) =>
    (responses[number - 1] ?? takeAll)(request, response, number);

const status =
  (code: number, headers: Record<string, string> = {}, text = ''): Handler =>
  (_request, response) =>
    void response.writeHead(code, headers).end(text);

const VALUES = [
  [1000, 1],
  [2000, 2],
  [3000, 3],
];

async function sent(answer: Handler, protocol: ProtocolChoice = 'auto', of: SeriesLayout = layout) {
  const server = await receiverServer(answer);
  cleanUp.push(() => server.close());
  const parts = sending(server.url, { protocol });
  append(parts.queue, 3, of);
  await parts.sender.drained(20);
  return { ...parts, server, statistics: parts.sender.statistics };
}

describe('protocol', () => {
  test('2.0 first: its headers, type and start of each series', async () => {
    const { server, statistics } = await sent(takeAll);
    expect(statistics).toEqual({ written: 6, rejected: 0, lost: 0, waiting: 0, trouble: null });
    expect(received(server.requests)).toEqual(VALUES);
    const [request] = server.requests;
    expect(request?.headers).toMatchObject({
      'content-encoding': 'snappy',
      'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
      'x-prometheus-remote-write-version': '2.0.0',
      'user-agent': 'llmbench/1.2.3',
    });
    expect(request?.series[0]).toMatchObject({ type: 1, created_ms: 500 });
  });

  test('1.0 if requested, with metadata in the first request', async () => {
    const { server } = await sent(takeAll, '1');
    const [request] = server.requests;
    expect(request?.headers).toMatchObject({
      'content-type': 'application/x-protobuf',
      'x-prometheus-remote-write-version': '0.1.0',
    });
    expect(request?.metadata).toEqual(new Map([['llmbench_requests_total', 'Requests.']]));
  });

  const knowsOnlyV1 =
    (refuse: Handler): Handler =>
    (request, response, number) =>
      (request.protocol === '1' ? takeAll : refuse)(request, response, number);

  test.each([
    ['415', status(415)],
    ['400 of receivers of 1.0 for unknown content', status(400, {}, 'proto: bad wiretype')],
    ['204 of one that ignores the content type', status(204)],
  ])('falls back to 1.0 upon %s', async (_name, refuse) => {
    const { server, statistics, problems } = await sent(knowsOnlyV1(refuse));
    expect(statistics).toMatchObject({ written: 6, rejected: 0, waiting: 0 });
    expect(received(server.requests.filter(({ protocol }) => protocol === '1'))).toEqual(VALUES);
    expect(server.requests.filter(({ protocol }) => protocol === '2')).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  test('does not fall back when 2.0 was requested: the samples are kept', async () => {
    const { statistics, problems } = await sent(status(415, {}, 'no'), '2');
    expect(statistics).toMatchObject({ written: 0, rejected: 0, waiting: 6 });
    expect(problems).toEqual([
      'samples are kept until this is corrected: HTTP 415: no; the receiver does not support this --remote-write-protocol',
    ]);
  });
});

const reset: Handler = (_request, response) => void response.socket?.resetAndDestroy();
const cutOff: Handler = (_request, response) => {
  response.writeHead(500, { 'content-length': '100' });
  response.write('x');
  setTimeout(() => response.socket?.destroy(), 10);
};

describe('temporary failures are retried', () => {
  test.each([
    ['500', status(500, {}, 'oops')],
    ['503', status(503)],
    ['429', status(429)],
    ['408', status(408)],
    ['425', status(425)],
    ['a reset', reset],
    ['a truncated response', cutOff],
  ])('%s', async (_name, failure) => {
    const { server, statistics, problems } = await sent(inTurn(failure, failure));
    expect(statistics).toEqual({ written: 6, rejected: 0, lost: 0, waiting: 0, trouble: null });
    expect(received(server.requests.slice(2))).toEqual(VALUES);
    expect(server.requests).toHaveLength(3);
    expect(problems).toEqual([]);
  });

  test('not before Retry-After', async () => {
    const { server, statistics } = await sent(inTurn(status(429, { 'retry-after': '1' })));
    const [first, second] = server.requests;
    expect(statistics.written).toBe(6);
    expect((second?.at_ms ?? 0) - (first?.at_ms ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test('a receiver that does not respond', async () => {
    const server = await receiverServer(inTurn(() => undefined));
    cleanUp.push(() => server.close());
    const { sender, queue } = sending(server.url, {}, 0.3);
    append(queue, 3);
    await sender.drained(20);
    expect(sender.statistics).toMatchObject({ written: 6, waiting: 0 });
  });

  test('a receiver that starts late', async () => {
    const reserved = createServer();
    await new Promise<void>((resolve) => reserved.listen(0, '127.0.0.1', resolve));
    const { port } = reserved.address() as AddressInfo;
    await new Promise((resolve) => reserved.close(resolve));
    const { sender, queue } = sending(`http://127.0.0.1:${port}/api/v1/write`);
    append(queue, 3);
    await sender.drained(0.2);
    expect(sender.statistics).toMatchObject({
      written: 0,
      waiting: 6,
      trouble: expect.stringContaining('ECONNREFUSED'),
    });
    const server = await receiverServer(takeAll, port);
    cleanUp.push(() => server.close());
    await sender.drained(20);
    expect(sender.statistics).toMatchObject({ written: 6, waiting: 0, trouble: null });
  });
});

describe('samples are kept if a change of configuration can deliver them', () => {
  const CREDENTIALS =
    'check the credentials: --remote-write-username, --remote-write-bearer-env, --remote-write-header';
  const RECEIVER = 'check the path of --remote-write-url; Prometheus must run with --web.enable-remote-write-receiver';

  test.each<[number, Record<string, string>, string]>([
    [401, {}, `HTTP 401: no; ${CREDENTIALS}`],
    [403, {}, `HTTP 403: no; ${CREDENTIALS}`],
    [404, {}, `HTTP 404: no; ${RECEIVER}`],
    [405, {}, `HTTP 405: no; ${RECEIVER}`],
    ...[402, 406, 411, 417, 421, 426, 428, 431, 451].map((code): [number, Record<string, string>, string] => [
      code,
      {},
      `HTTP ${code}: no; the receiver, or a proxy before it, refuses requests: check --remote-write-url and --remote-write-header`,
    ]),
    ...[409, 422].map((code): [number, Record<string, string>, string] => [
      code,
      {},
      `HTTP ${code}: no; the receiver has accepted no request yet: check --remote-write-url and --remote-write-header`,
    ]),
    [413, {}, 'HTTP 413: no; raise the largest request size of the receiver, or of the proxy before it'],
    [301, {}, 'HTTP 301: no; the receiver redirects: set --remote-write-url to the final URL'],
    [
      308,
      { location: 'https://user:geheim@host/api/v1/write?token=geheim' },
      'HTTP 308: no; the receiver redirects to https://host/api/v1/write: set --remote-write-url to the final URL',
    ],
    [
      200,
      { 'content-type': 'text/html; charset=utf-8' },
      'HTTP 200 with an HTML page: the URL is not a remote-write receiver',
    ],
    [415, {}, 'HTTP 415: no; the receiver does not support this --remote-write-protocol'],
  ])('HTTP %i', async (code, headers, reason) => {
    let isCorrected = false;
    const answer: Handler = (request, response, number) =>
      (isCorrected ? takeAll : status(code, headers, 'no'))(request, response, number);
    const { server, sender, statistics, problems } = await sent(answer);
    expect(statistics).toEqual({ written: 0, rejected: 0, lost: 0, waiting: 6, trouble: reason });
    expect(problems).toEqual([`samples are kept until this is corrected: ${reason}`]);
    // One of each protocol, or one of each size.
    expect(server.requests.length).toBeLessThanOrEqual(code === 413 ? 3 : 2);
    const before = server.requests.length;
    isCorrected = true;
    await sender.drained(20);
    expect(sender.statistics).toMatchObject({ written: 6, rejected: 0, waiting: 0, trouble: null });
    expect(received(server.requests.slice(before))).toEqual(VALUES);
  });

  test('HTTP 413: smaller requests, also later, until the receiver accepts them', async () => {
    const limited: Handler = (request, response, number) =>
      (request.samples > 8 ? status(413, {}, 'too large') : takeAll)(request, response, number);
    const server = await receiverServer(limited);
    cleanUp.push(() => server.close());
    const { sender, queue, problems } = sending(server.url);
    append(queue, 100);
    await sender.drained(20);
    expect(sender.statistics).toEqual({ written: 200, rejected: 0, lost: 0, waiting: 0, trouble: null });
    expect(received(server.requests.filter(({ samples }) => samples <= 8))).toEqual(
      Array.from({ length: 100 }, (_, i) => [1000 * (i + 1), i + 1]),
    );
    const before = server.requests.length;
    for (let i = 0; i < 12; i += 1) queue.append(1, { time_ms: 200_000 + 1000 * i, values: [i, 0], native: [] });
    await sender.drained(20);
    expect(server.requests.slice(before).map(({ samples }) => samples)).toEqual(expect.not.arrayContaining([24]));
    expect(sender.statistics).toMatchObject({ written: 224, rejected: 0, waiting: 0 });
    expect(problems).toEqual([]);
  });

  test.each<[name: string, protocol: ProtocolChoice, refuse: Handler, reason: string]>([
    [
      'HTTP 400 to protocol 1 that says nothing of samples',
      '1',
      status(400, {}, '<h1>400 Bad Request</h1>'),
      'HTTP 400: <h1>400 Bad Request</h1>; the receiver has accepted no request yet: check --remote-write-url and --remote-write-header',
    ],
    [
      'the same to both protocols',
      'auto',
      status(400, {}, 'unknown tenant'),
      'HTTP 400: unknown tenant; the receiver has accepted no request yet: check --remote-write-url and --remote-write-header',
    ],
    [
      'a success that counts no sample',
      '2',
      status(204, { 'x-prometheus-remote-write-samples-written': '0' }),
      'the receiver reports success and 0 of 6 samples written: check what it drops',
    ],
  ])('%s', async (_name, protocol, refuse, reason) => {
    let isCorrected = false;
    const answer: Handler = (request, response, number) => (isCorrected ? takeAll : refuse)(request, response, number);
    const { sender, statistics, problems } = await sent(answer, protocol);
    expect(statistics).toEqual({ written: 0, rejected: 0, lost: 0, waiting: 6, trouble: reason });
    expect(problems).toEqual([`samples are kept until this is corrected: ${reason}`]);
    isCorrected = true;
    await sender.drained(20);
    expect(sender.statistics).toMatchObject({ written: 6, rejected: 0, waiting: 0, trouble: null });
  });

  test('after samples were accepted, HTTP 400 is about the samples: later ones are not held up', async () => {
    const { sender, queue, server } = await sent(inTurn(takeAll, status(400, {}, 'no')), '1');
    queue.append(1, { time_ms: 9000, values: [9, 0], native: [] });
    await sender.drained(20);
    expect(sender.statistics).toMatchObject({ written: 6, rejected: 2, waiting: 0 });
    queue.append(1, { time_ms: 10_000, values: [10, 0], native: [] });
    await sender.drained(20);
    expect(received(server.requests.slice(2))).toEqual([[10_000, 10]]);
  });

  test('it is not retried for each added sample', async () => {
    const { server, sender, queue } = await sent(status(401));
    queue.append(1, { time_ms: 9000, values: [9, 0], native: [] });
    sender.wake();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.requests).toHaveLength(1);
    expect(sender.statistics).toMatchObject({ waiting: 8 });
  });
});

describe('samples that will never be accepted', () => {
  const NONE_WRITTEN = { 'x-prometheus-remote-write-samples-written': '0' };

  test.each([402, 422, 451])('HTTP %i: dropped, counted, reported once; the rest continues', async (code) => {
    const refuse = status(code, NONE_WRITTEN, 'out of order');
    const { server, sender, queue, statistics, problems } = await sent(inTurn(refuse));
    expect(statistics).toMatchObject({ written: 0, rejected: 6, waiting: 0 });
    expect(problems).toEqual([`samples were rejected and dropped: HTTP ${code}: out of order`]);
    queue.append(1, { time_ms: 9000, values: [9, 0], native: [] });
    await sender.drained(20);
    expect(sender.statistics).toMatchObject({ written: 2, rejected: 6 });
    expect(received(server.requests.slice(1))).toEqual([[9000, 9]]);
  });

  /** Refuses a request as a whole when it has a sample from before. */
  const refusingBefore =
    (time_ms: number, code: number): Handler =>
    (request, response, number) => {
      const times = request.series.flatMap(({ samples }) => samples.map((sample) => sample.time_ms));
      const isOld = times.some((each) => each < time_ms);
      (isOld ? status(code, NONE_WRITTEN, 'too old sample\n') : takeAll)(request, response, number);
    };

  test.each([
    ['1', 400],
    ['1', 409],
    ['1', 500],
    ['2', 400],
  ] as const)('of samples of which some are too old (%s, HTTP %i) only these are lost', async (protocol, code) => {
    const server = await receiverServer(refusingBefore(3000, code));
    cleanUp.push(() => server.close());
    const { sender, queue, problems } = sending(server.url, { protocol });
    append(queue, 7);
    await sender.drained(20);
    expect(sender.statistics).toMatchObject({ written: 10, rejected: 4, waiting: 0, trouble: null });
    expect(problems).toEqual([`samples were rejected and dropped: HTTP ${code}: too old sample`]);
    const taken = server.requests.filter(({ series }) =>
      series.every(({ samples }) => samples.every((s) => s.time_ms >= 3000)),
    );
    expect(received(taken)).toEqual([3, 4, 5, 6, 7].map((i) => [1000 * i, i]));
  });

  test('if all are too old, the number of requests is limited, and later samples are not held up', async () => {
    const server = await receiverServer(refusingBefore(900_000, 400));
    cleanUp.push(() => server.close());
    const { sender, queue } = sending(server.url);
    append(queue, 500);
    await sender.drained(20);
    expect(sender.statistics).toMatchObject({ written: 0, rejected: 1000, waiting: 0 });
    expect(server.requests.length).toBeLessThan(150);
    queue.append(1, { time_ms: 900_000, values: [9, 0], native: [] });
    await sender.drained(20);
    expect(sender.statistics).toMatchObject({ written: 2, rejected: 1000 });
  });

  test('partially: samples that the receiver counts as written are not counted as dropped, and not sent again', async () => {
    const partial = status(400, { 'x-prometheus-remote-write-samples-written': '4' }, 'too old');
    const { server, statistics } = await sent(inTurn(partial));
    expect(statistics).toMatchObject({ written: 4, rejected: 2, waiting: 0 });
    expect(server.requests).toHaveLength(1);
  });

  test('a rejection whose count has every sample of the request (Mimir counts before it stores) counts none', async () => {
    const all: Handler = (request, response, number) => {
      const isOld = request.series.some(({ samples }) => samples.some((sample) => sample.time_ms < 3000));
      const counts = { 'x-prometheus-remote-write-samples-written': String(request.samples) };
      (isOld ? status(400, counts, 'timestamp is too old') : takeAll)(request, response, number);
    };
    const { statistics, problems } = await sent(all);
    expect(statistics).toMatchObject({ written: 2, rejected: 4, waiting: 0 });
    expect(problems).toEqual(['samples were rejected and dropped: HTTP 400: timestamp is too old']);
  });

  test('a success that counts fewer samples than were sent', async () => {
    const { statistics, problems } = await sent(status(204, { 'x-prometheus-remote-write-samples-written': '5' }));
    expect(statistics).toMatchObject({ written: 5, rejected: 1 });
    expect(problems).toEqual(['samples were rejected and dropped: the receiver counts fewer samples than were sent']);
  });

  test('a rejection after an attempt without response may mean that the samples were accepted, which is reported', async () => {
    const { problems } = await sent(inTurn(reset, status(400, {}, 'out of order sample')), '1');
    expect(problems).toEqual([
      'samples were rejected and dropped: HTTP 400: out of order sample (an earlier attempt may have been accepted)',
    ]);
  });

  test('a response cannot inject a line or reveal a secret', async () => {
    const server = await receiverServer(status(422, {}, 'no\nlevel=error token geheim42 \u001b[31m'));
    cleanUp.push(() => server.close());
    const { sender, queue, problems } = sending(server.url, { secrets: ['geheim42'], protocol: '1' });
    append(queue, 1);
    await sender.drained(20);
    expect(problems).toEqual([
      expect.stringMatching(
        /^samples are kept until this is corrected: HTTP 422: no level=error token \*\*\* +\[31m; [^\n]*$/,
      ),
    ]);
  });
});

describe('native histograms', () => {
  test('go in requests of their own', async () => {
    const { server, statistics } = await sent(takeAll, 'auto', withNative);
    expect(statistics).toMatchObject({ written: 9, rejected: 0 });
    expect(server.requests.map(({ samples, histograms }) => [samples, histograms])).toEqual([
      [6, 0],
      [0, 3],
    ]);
  });

  const refusing =
    (refuse: Handler): Handler =>
    (request, response, number) =>
      (request.histograms > 0 ? refuse : takeAll)(request, response, number);

  test.each([
    ['400', status(400, { 'x-prometheus-remote-write-histograms-written': '0' }, 'native histograms are disabled')],
    ['500, as Prometheus 2', status(500, {}, 'native histograms are disabled')],
  ])('that are rejected with %s do not hold up the numbers', async (_name, refuse) => {
    const { server, sender, queue, statistics, problems } = await sent(refusing(refuse), 'auto', withNative);
    expect(statistics).toMatchObject({ written: 6, rejected: 3, waiting: 0, trouble: null });
    expect(problems[0]).toMatch(/^the receiver does not accept native histograms, they are left out: HTTP \d+: native/);
    const before = server.requests.length;
    queue.append(1, { time_ms: 9000, values: [9, 0], native: [empty] });
    await sender.drained(20);
    expect(sender.statistics).toMatchObject({ written: 8, rejected: 4, waiting: 0 });
    expect(server.requests).toHaveLength(before + 1);
  });
});

test('an acknowledged point is removed from disk, a waiting one is not', async () => {
  const { folder, queue, sender } = await sent(takeAll);
  const points = (): number => readdirSync(folder).filter((name) => name.startsWith('point-')).length;
  expect(points()).toBe(0);
  await sender.stop();
  queue.append(1, { time_ms: 9000, values: [9, 0], native: [] });
  expect(points()).toBe(1);
});
