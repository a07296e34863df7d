import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ownIdentity } from '../../files/process-identity.ts';
import { Gauge } from './testing/gauge.ts';
import { labelPairs, type SeriesLayout } from './pushed-series.ts';
import { queueName, queuesDirectory } from './disk-queue.ts';
import { RemoteWritePublisher } from './remote-write-publisher.ts';
import { startSending, type Sending } from './sending.ts';
import { receiverServer, takeAll, type ReceiverServer } from './testing/receiver-server.ts';

let runs: string;
let server: ReceiverServer;
let away: boolean;
let silent: boolean;
const problems: string[] = [];
/** While a run waits for the receiver, which recovers then. */
const said: string[] = [];

beforeEach(async () => {
  runs = mkdtempSync(join(tmpdir(), 'llmbench-sending-'));
  away = false;
  silent = false;
  problems.length = 0;
  said.length = 0;
  server = await receiverServer((request, response, number) => {
    if (silent) return;
    if (away) response.writeHead(503).end();
    else takeAll(request, response, number);
  });
});
afterEach(async () => {
  await server.close();
  rmSync(runs, { recursive: true, force: true });
});

const receiver = (url: string) => ({ url, headers: {}, tls: {}, secrets: [], protocol: 'auto' as const });
const layout: SeriesLayout = {
  families: [{ name: 'a', type: 'gauge', help: '' }],
  series: [{ family: 0, labels: labelPairs('a', { run_id: 'r' }) }],
  nativeSeries: [],
  created_ms: null,
};

function sending(runId: string, url = server.url): Sending {
  const own = { runId, shard: '0', version: '0', maxQueueBytes: 1e6, customBuckets: false };
  const made = startSending({ ...own, runsDirectory: runs, receiver: receiver(url) }, (line) => problems.push(line));
  made.declare(1, layout);
  made.append(1, { time_ms: 1000, values: [1], native: [] });
  return made;
}

test('samples that a run leaves are sent by the next run to the same receiver', async () => {
  away = true;
  expect(await sending('first').finish(0.1)).toMatchObject({ written: 0, waiting: 1, earlier: 0 });
  expect(readdirSync(queuesDirectory(runs))).toEqual(['first~0']);
  away = false;
  const elsewhere = await receiverServer();
  expect(await sending('other', elsewhere.url).finish(20)).toMatchObject({ written: 1, waiting: 0, earlier: 0 });
  await elsewhere.close();
  expect(await sending('second').finish(20)).toMatchObject({ written: 1, waiting: 0, earlier: 1 });
  expect(readdirSync(queuesDirectory(runs))).toEqual([]);
  expect(problems).toEqual([]);
});

test('several queues of one run are left beside each other, and sent by the next one', async () => {
  away = true;
  for (let time = 1; time <= 3; time += 1)
    expect(await sending('r').finish(0.1)).toMatchObject({ written: 0, waiting: 1 });
  expect(readdirSync(queuesDirectory(runs))).toEqual(['r~0', 'r~0-2', 'r~0-3']);
  away = false;
  expect(await sending('second').finish(20)).toMatchObject({ written: 1, waiting: 0, earlier: 3 });
  expect(readdirSync(queuesDirectory(runs))).toEqual([]);
  expect(problems).toEqual([]);
});

test('queues that were left as those of ended processes, with one name, are all claimed', async () => {
  away = true;
  const [machine] = ownIdentity().start_time.split('.');
  for (const pid of [4_194_302, 4_194_303]) {
    await sending('r').finish(0.1);
    const ended = { pid, start_time: `${machine}.1` };
    renameSync(
      join(queuesDirectory(runs), 'r~0'),
      join(queuesDirectory(runs), queueName({ runId: 'r', shard: '0', owner: ended })),
    );
  }
  away = false;
  // Of each its sample, and the end of its series.
  expect(await sending('second').finish(20)).toMatchObject({ written: 1, waiting: 0, earlier: 4 });
  expect(readdirSync(queuesDirectory(runs))).toEqual([]);
});

function publisher(gauge: Gauge, intervalSeconds = 0.05): Promise<RemoteWritePublisher> {
  return RemoteWritePublisher.open({
    ...{ runsDirectory: runs, runId: 'r', shard: '0', receiver: receiver(server.url), version: '0' },
    ...{ maxQueueBytes: 1e6, customBuckets: false, intervalSeconds, flushSeconds: 20 },
    say: (line) => {
      said.push(line);
      away = false;
    },
    live: { families: [gauge], extraLabels: {}, created_ms: 1 },
    now_ms: () => 1000,
  });
}

const samples = () => server.requests.flatMap(({ series }) => series.flatMap((each) => each.samples));

test('a run: its first values, points while it is running, the last value twice, and the end', async () => {
  const gauge = new Gauge();
  const publishing = await publisher(gauge, 3600);
  publishing.begin();
  gauge.value = 7;
  publishing.end();
  gauge.value = 8;
  expect(await publishing.finish()).toEqual([expect.stringMatching(/^remote write: 4 samples written to http/)]);
  expect(await publishing.finish()).toHaveLength(1);
  // The clock of the test does not advance: two points never have the same time.
  expect(samples()).toEqual([
    { time_ms: 1000, value: 0 },
    { time_ms: 1001, value: 7 },
    { time_ms: 16_001, value: 7 },
    { time_ms: 17_001, value: 'stale' },
  ]);
});

test('the end of a run reports that it waits for the receiver, unless it does for a moment alone', async () => {
  away = true;
  const publishing = await publisher(new Gauge(), 3600);
  publishing.begin();
  expect(await publishing.finish()).toEqual([expect.stringMatching(/^remote write: \d samples written to http/)]);
  expect(said).toEqual([expect.stringMatching(/^remote write: HTTP 503; trying again for up to 1\d s$/)]);
  away = true;
  const second = await publisher(new Gauge(), 3600);
  second.begin();
  expect(await second.finish(2)).toContainEqual(expect.stringMatching(/samples wait on disk \(HTTP 503\)/));
  expect(said).toHaveLength(1);
}, 60_000);

test('a series that appears later is sent from then on', async () => {
  const gauge = new Gauge();
  const publishing = await publisher(gauge);
  publishing.begin();
  gauge.twice = true;
  publishing.end();
  await publishing.finish();
  const names = server.requests.flatMap(({ series }) => series.map(({ labels }) => labels['part']));
  expect(new Set(names)).toEqual(new Set(['first', 'second']));
});

test('a run that never started leaves nothing', async () => {
  const publishing = await publisher(new Gauge());
  expect(await publishing.finish()).toEqual([expect.stringContaining(': 0 samples written')]);
  expect(server.requests).toEqual([]);
  expect(readdirSync(queuesDirectory(runs))).toEqual([]);
});

test('a receiver that accepts the connection and never responds does not delay the end of the run', async () => {
  silent = true;
  const publishing = await publisher(new Gauge());
  publishing.begin();
  publishing.end();
  const began = performance.now();
  const lines = await publishing.finish(0.3);
  // Far less than the response timeout of 30 s.
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(lines).toEqual([
    expect.stringContaining(': 0 samples written'),
    expect.stringMatching(/^remote write: 4 samples wait on disk; `llmbench push --remote-write-url http.*sends them$/),
  ]);
  expect(readdirSync(queuesDirectory(runs))).toEqual(['r~0']);
});

test('what a run had to drop stays noted when the next run sends what waits', async () => {
  // The receiver drops one of two samples of the first run without a word.
  const short = await receiverServer((_request, response) =>
    response.writeHead(204, { 'x-prometheus-remote-write-samples-written': '1' }).end(),
  );
  const lossy = sending('first', short.url);
  const more = { family: 0, labels: labelPairs('a', { run_id: 'r', of: 'more' }) };
  lossy.declare(2, { ...layout, series: [...layout.series, more] });
  lossy.append(2, { time_ms: 2000, values: [2, 3], native: [] });
  expect(await lossy.finish(20)).toMatchObject({ written: 2, rejected: 1, waiting: 0 });
  expect(await sending('second', short.url).finish(20)).toMatchObject({ written: 1, rejected: 0, earlier: 0 });
  await short.close();
  expect(readdirSync(queuesDirectory(runs))).toEqual(['first~0']);
  expect(readdirSync(join(queuesDirectory(runs), 'first~0')).sort()).toEqual(['dropped.json', 'queue.json']);
});
