import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { RequestViewBuilder } from '../report/request-view.ts';
import { EXAMPLE_END, examplePlan, exampleRecord } from '../store/fixtures/example-run.ts';
import { openStore } from '../store/run-store.ts';
import { writeRunFiles } from './run-files.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-files-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function finishedRun() {
  const { store } = await openStore(directory);
  const writer = await store.begin(examplePlan({ run_id: 'mine' }));
  for (let i = 0; i < 10; i++) writer.requestEnded(exampleRecord(i));
  await writer.finish(EXAMPLE_END);
  return store;
}

test('the report always, other tools’ files on request', async () => {
  const store = await finishedRun();
  expect(await writeRunFiles(store, 'mine', [])).toEqual([]);
  const files = ['checksums.sha256', 'records', 'report.html', 'result.json', 'run.json'];
  expect((await readdir(store.pathOf('mine'))).sort()).toEqual(files);
  expect(await writeRunFiles(store, 'mine', ['aiperf'])).toEqual([]);
  expect((await readdir(store.pathOf('mine'))).sort()).toEqual(['aiperf', ...files]);
  expect((await readdir(join(store.pathOf('mine'), 'aiperf'))).sort()).toEqual([
    'profile_export_aiperf.csv',
    'profile_export_aiperf.json',
  ]);
});

test('the report uses what was collected during the run, without reading the records again', async () => {
  const store = await finishedRun();
  await rm(join(store.pathOf('mine'), 'records'), { recursive: true });
  const seen = new RequestViewBuilder();
  for (let i = 0; i < 10; i++) seen.add(exampleRecord(i));
  expect(await writeRunFiles(store, 'mine', [], () => seen.view())).toEqual([]);
  const page = await readFile(join(store.pathOf('mine'), 'report.html'), 'utf8');
  expect(page).not.toContain('The records cannot be read');
  expect(page).toContain('Time to first token');
});

test('a report that cannot be written is reported; the run stays, and the export is written', async () => {
  const store = await finishedRun();
  await mkdir(join(store.pathOf('mine'), 'report.html', 'x'), { recursive: true });
  expect(await writeRunFiles(store, 'mine', ['aiperf'])).toEqual([
    expect.stringMatching(/^the report could not be written: .*; `llmbench report mine` retries$/),
  ]);
  expect((await store.readResult('mine')).requests.ok).toBe(7);
  expect(await readdir(join(store.pathOf('mine'), 'aiperf'))).toHaveLength(2);
});
