import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ownIdentity } from '../../files/process-identity.ts';
import { EXAMPLE_END, examplePlan } from '../fixtures/example-run.ts';
import { openStore, type RunStore } from '../run-store.ts';
import { recordServed, servedRuns } from './served-runs.ts';

const ADDRESSES = { metrics_url: 'http://127.0.0.1:9470/metrics', server_metrics_urls: ['http://gpu-1:8000/metrics'] };
let directory: string;
let store: RunStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-served-'));
  ({ store } = await openStore(directory));
});

afterEach(() => rm(directory, { recursive: true }));

const unfinished = (): Promise<string[]> => readdir(join(directory, '.unfinished'));

test('a published run is among the served ones, with its addresses, until its page is left', async () => {
  const writer = await store.begin(examplePlan({ run_id: 'r1' }), ADDRESSES);
  await writer.complete(EXAMPLE_END);
  const record = await recordServed(directory, 'r1');
  await writer.publish();
  const { start } = await store.readRun('r1');
  expect(await servedRuns(directory)).toEqual([{ run_id: 'r1', start, process: { ...ownIdentity(), ...ADDRESSES } }]);
  expect(await store.running()).toEqual([]);
  await record.stop();
  expect(await servedRuns(directory)).toEqual([]);
  expect(await unfinished()).toEqual([]);
});

test('no run without a folder, and no runs directory', async () => {
  await expect(recordServed(directory, 'r1')).rejects.toThrow('run.json');
  expect(await servedRuns(join(directory, 'missing'))).toEqual([]);
});

test('a record of a process that has ended does not count, and the next command removes it', async () => {
  const { pid, start_time } = ownIdentity();
  await store.checkWritable();
  const name = `r1.page~${pid}~${start_time.split('.')[0] ?? ''}.0`;
  await writeFile(join(directory, '.unfinished', name), JSON.stringify({ run_id: 'r1', start: null, process: null }));
  expect(await servedRuns(directory)).toEqual([]);
  await openStore(directory);
  expect(await unfinished()).toEqual(process.platform === 'linux' ? [] : [name]);
});

test.each(['', 'x', '[]', '{"run_id": "r2", "start": null, "process": null}', '{"run_id": "r1", "process": {}}'])(
  'a record that this program did not write does not count: %j',
  async (text) => {
    const { pid, start_time } = ownIdentity();
    await store.checkWritable();
    await writeFile(join(directory, '.unfinished', `r1.page~${pid}~${start_time}`), text);
    expect(await servedRuns(directory)).toEqual([]);
  },
);
