import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, afterEach, beforeEach } from '@jest/globals';
import type { ResultFile } from '../../core/run/result.ts';
import { RunNotStoredError } from '../errors/expected-error.ts';
import type { DepartingRun } from '../run/perform-run.ts';
import type { RunRequest } from '../run/run-request.ts';
import { shardDirectory } from '../store/run-paths.ts';
import { keptRun, mergeLine, shardMark, grafanaRunUrl, linkLines } from './run-results.ts';
import { groupResult, type GroupRun } from './tables/group-table.ts';
import { announceServe } from '../store/recovery/serve-presence.ts';

const request = { group: { group_id: 'g', step: null, repeat: 0 }, runsDirectory: 'runs' } as unknown as RunRequest;
const result = (run_id: string): ResultFile => ({ run_id, measures: [] }) as unknown as ResultFile;
const performed: DepartingRun = {
  ...{ result: result('a'), failure: null, path: 'runs/a', notes: [] },
  departure: Promise.resolve([]),
};

test('a run that could not be stored is reported with the others, in one document', async () => {
  const runs: GroupRun[] = [];
  await keptRun(runs, request, () => Promise.resolve(performed));
  const full = new RunNotStoredError('runs/b', new Error('no space left'), result('b'));
  await expect(keptRun(runs, request, () => Promise.reject(full))).rejects.toBe(full);
  expect(groupResult(runs).runs.map(({ run_id }) => run_id)).toEqual(['a', 'b']);
});

test('a run that failed otherwise has nothing to report', async () => {
  const runs: GroupRun[] = [];
  const refused = new Error('refused');
  await expect(keptRun(runs, request, () => Promise.reject(refused))).rejects.toBe(refused);
  expect(runs).toEqual([]);
});

test('a shard says that it is one, and how the run becomes whole', () => {
  expect(shardMark({ part: 1, parts: 4 })).toContain('shard 1 of 4');
  expect(mergeLine('night-7', shardDirectory('/data/runs', 'night-7', '1'))).toBe(
    'when all shards are in /data/runs/night-7.shards, run: llmbench merge night-7 --runs-dir /data/runs',
  );
});

const WINDOW = { start: '2026-03-04T05:06:07.000Z', end: '2026-03-04T05:07:07.000Z', seconds: 60 };
const RESULT = { run_id: 'nightly-7', window: WINDOW } as ResultFile;
const PAGE = '/a/llmbench-observability-app/runs/nightly-7?from=1772600752000&to=1772600842000';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench links '));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test.each([
  ['http://grafana:3000', `http://grafana:3000${PAGE}`],
  ['https://ops.example.org/grafana/', `https://ops.example.org/grafana${PAGE}`],
])('the page of a run in %s has its time range', (address, url) => {
  expect(grafanaRunUrl(address, RESULT)).toBe(url);
});

test('a run without a time has no time range', () => {
  const window = { start: null, end: null, seconds: null };
  expect(grafanaRunUrl('http://g', { run_id: 'a', window })).toBe('http://g/a/llmbench-observability-app/runs/a');
});

test('the report is a link that a browser opens; without it there is none', async () => {
  const place = { path: directory, runsDirectory: directory, grafana: null };
  expect(await linkLines(RESULT, place)).toEqual([`directory   ${directory}`]);
  await writeFile(join(directory, 'report.html'), '');
  expect(await linkLines(RESULT, place)).toEqual([
    `report      file://${directory.replaceAll(' ', '%20')}/report.html`,
    `directory   ${directory}`,
  ]);
});

test('the Grafana of a serve that watches the directory is used unless another is given', async () => {
  const presence = await announceServe(directory, 'http://127.0.0.1:9469', 'http://g');
  try {
    const place = { path: directory, runsDirectory: directory };
    expect((await linkLines(RESULT, { ...place, grafana: null }))[0]).toBe(`Grafana     http://g${PAGE}`);
    expect((await linkLines(RESULT, { ...place, grafana: 'http://own' }))[0]).toBe(`Grafana     http://own${PAGE}`);
  } finally {
    await presence.stop();
  }
  expect((await linkLines(RESULT, { path: directory, runsDirectory: directory, grafana: null }))[0]).toMatch(/^dir/);
});
