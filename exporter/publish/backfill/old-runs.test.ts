import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { addRun } from '../../store/changes/add-run.ts';
import { addedResult, addedRun } from '../../store/fixtures/added-run.ts';
import { openStore, type RunStore } from '../../store/run-store.ts';
import { receiverServer } from '../remote-write/testing/receiver-server.ts';
import { oldRuns, sendOldRuns, type OldRun } from './old-runs.ts';
import { writePages } from './openmetrics-pages.ts';

let folder: string;
let store: RunStore;
let refused: Map<string, string>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-old-runs-'));
  ({ store } = await openStore(join(folder, 'runs')));
  await store.checkWritable();
  refused = new Map();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A run of ten seconds from this time of 2026-11-21 on, UTC. */
async function add(runId: string, start: string | null): Promise<void> {
  const at = start === null ? null : `2026-11-21T${start}:00.000Z`;
  const end = at === null ? null : new Date(Date.parse(at) + 10_000).toISOString();
  const added = addedRun(runId, { start: at, end });
  await addRun(store, { ...added, result: { ...addedResult(added.run), window: { start: at, end, seconds: 10 } } });
}

const old = (runIds: readonly string[]): AsyncGenerator<OldRun> =>
  oldRuns(store, runIds, { extraLabels: { site: 'lab' }, refused: (runId, reason) => void refused.set(runId, reason) });

test('runs come in the order of their start; those that cannot be placed in time are refused', async () => {
  await add('late', '14:00');
  await add('early', '09:30');
  await add('timeless', null);
  await add('damaged', '10:00');
  await writeFile(join(store.pathOf('damaged'), 'result.json'), '{');
  const runIds: string[] = [];
  for await (const { finished } of old(['late', 'nowhere', 'timeless', 'early', 'damaged', 'late']))
    runIds.push(finished.run.run_id);
  expect(runIds).toEqual(['early', 'late']);
  expect([...refused.keys()].sort()).toEqual(['damaged', 'nowhere', 'timeless']);
  expect(refused.get('timeless')).toMatch(/start is null/);
});

test('the phases are written as they were published: 1 from start to end, then 0', async () => {
  const at = (seconds: number): string => new Date(Date.parse('2026-11-21T09:30:00Z') + seconds * 1000).toISOString();
  const phases = [
    { phase: 'warmup' as const, start: at(0), end: at(5) },
    { phase: 'measure' as const, start: at(5), end: at(95) },
  ];
  const added = addedRun('imported', { start: at(0), end: at(95), phases });
  await addRun(store, {
    ...added,
    result: { ...addedResult(added.run), window: { start: at(5), end: at(95), seconds: 90 } },
  });
  let page = '';
  await writePages(old(['imported']), { kind: 'stream', write: (text: string) => void (page += text) });
  const seconds = (name: string, phase: string): [seconds: number, value: number][] =>
    page.split('\n').flatMap((line) => {
      const [series = '', value, time] = line.split(' ');
      const wanted = series.startsWith(`${name}{`) && series.includes(`phase="${phase}"`);
      return wanted ? [[Number(time) - Date.parse(at(0)) / 1000, Number(value)]] : [];
    });
  const active = (phase: string) => seconds('llmbench_run_phase', phase);
  // Every 60 s, and the last value for 15 s.
  expect(active('warmup')).toEqual([
    [0, 1],
    [5, 0],
    [20, 0],
  ]);
  expect(active('measure')).toEqual([
    [5, 1],
    [65, 1],
    [95, 0],
    [110, 0],
  ]);
  const end = Date.parse(at(95)) / 1000;
  expect(seconds('llmbench_run_phase_end_timestamp_seconds', 'measure').map(([, value]) => value)).toEqual([
    ...[0, 0, end, end],
  ]);
  expect(page).toMatch(/^llmbench_run_phase\{phase="measure",run_id="imported",shard="0",site="lab"\} 1 /m);
});

test('the stages of a load are written in the same way, each at its time; one that had not begun is not', async () => {
  const at = (seconds: number): string => new Date(Date.parse('2026-11-21T09:30:00Z') + seconds * 1000).toISOString();
  const added = addedRun('staged', { start: at(0), end: at(95) });
  const result = addedResult(added.run);
  const { requests, window, errors, measures, slos } = result;
  const rest = { requests, window, errors, measures, slos };
  const rate = { duration_seconds: 30, concurrency: null, request_rate: { start: 5, end: 5 } };
  const fixed = { duration_seconds: 60, concurrency: 64, request_rate: null };
  const stages = [
    { ...rest, stage: 1, load: rate, start: at(0), end: at(30) },
    { ...rest, stage: 2, load: fixed, start: at(30), end: at(90) },
    { ...rest, stage: 3, load: fixed, start: null, end: null },
  ];
  await addRun(store, { ...added, result: { ...result, stages, window: { start: at(0), end: at(90), seconds: 90 } } });
  let page = '';
  await writePages(old(['staged']), { kind: 'stream', write: (text: string) => void (page += text) });
  const zero = Date.parse(at(0)) / 1000;
  const active = page.split('\n').flatMap((line) => {
    const [series = '', value, time] = line.split(' ');
    const [, load, stage] = /^llmbench_run_stage\{load="(.*?)".*stage="(\d)"/.exec(series) ?? [];
    return stage === undefined ? [] : [[stage, load, Number(time) - zero, Number(value)]];
  });
  expect(active).toEqual([
    ['1', 'rate=5', 0, 1],
    ['1', 'rate=5', 30, 0],
    ['1', 'rate=5', 45, 0],
    ['2', 'concurrency=64', 30, 1],
    ['2', 'concurrency=64', 90, 0],
    ['2', 'concurrency=64', 105, 0],
  ]);
  expect(page).toContain('# TYPE llmbench_run_stage_end_timestamp_seconds gauge\n');
});

test('a folder gets a file for each two hours with samples', async () => {
  await add('early', '09:30');
  await add('late', '14:00');
  await add('edge', '11:59');
  const path = join(folder, 'pages');
  // 11:59 and ten seconds, and what is held for fifteen more, do not reach 12:00.
  const written = await writePages(old(['early', 'late', 'edge']), { kind: 'folder', path });
  expect(written).toEqual(['0800', '1000', '1400'].map((time) => join(path, `20261121T${time}Z.openmetrics`)));
  expect(await readdir(path)).toHaveLength(3);
  const page = await readFile(join(path, '20261121T0800Z.openmetrics'), 'utf8');
  const value = `llmbench_result_requests_per_second{measure="request_throughput",run_id="early",site="lab",stat="value"} 7`;
  expect(page).toContain(`${value} ${Date.parse('2026-11-21T09:30:10Z') / 1000}.000\n`);
});

test('several runs on one page have each family once', async () => {
  await add('a', '09:30');
  await add('b', '14:00');
  let page = '';
  const stream = { kind: 'stream', write: (text: string) => void (page += text) } as const;
  expect(await writePages(old(['a', 'b']), stream)).toEqual([]);
  expect(page.match(/^# TYPE llmbench_run_info gauge$/gm)).toHaveLength(1);
  expect(page.endsWith('# EOF\n')).toBe(true);
  expect(page.match(/^# EOF$/gm)).toHaveLength(1);
});

test('a receiver that goes away ends the sending; nothing is lost', async () => {
  await add('a', '09:30');
  await add('b', '14:00');
  const server = await receiverServer((_request, response) => void response.writeHead(503).end());
  const sent = await sendOldRuns(old(['a', 'b']), {
    ...{ runsDirectory: store.directory, version: '0', secondsPerRun: 0.1 },
    ...{ problem: () => undefined, delayed: () => undefined },
    receiver: { url: server.url, headers: {}, tls: {}, secrets: [], protocol: 'auto' },
  });
  await server.close();
  expect(sent).toMatchObject({ runs: 1, written: 0, dropped: 0 });
  expect(sent.waiting).toBeGreaterThan(100);
  expect(await readdir(join(store.directory, '.remote-write'))).toEqual(['a~backfill']);
});
