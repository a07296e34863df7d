import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { EXAMPLE_END, examplePlan } from '../store/fixtures/example-run.ts';
import { recordServed } from '../store/recovery/served-runs.ts';
import { openStore, type RunStore } from '../store/run-store.ts';
import { RunList } from './views/run-library.ts';
import { storeSource, type RunReader } from './run-reader.ts';

const METRICS = { metrics_url: 'http://127.0.0.1:9470/metrics', server_metrics_urls: [] };
let directory: string;
let store: RunStore;
let source: RunReader;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-reader-'));
  ({ store } = await openStore(directory));
  source = storeSource(store, new RunList(store));
});

afterEach(() => rm(directory, { recursive: true }));

const ids = (runs: readonly { readonly run_id: string }[]): readonly string[] => runs.map(({ run_id }) => run_id);
const both = async () => ({ list: ids(await source.list()), live: ids(await source.live()) });

test('a run is either live or in the list, also between its publishing and the end of its page', async () => {
  const earlier = await store.begin(examplePlan({ run_id: 'earlier' }));
  await earlier.finish(EXAMPLE_END);
  const writer = await store.begin(examplePlan({ run_id: 'r1' }), METRICS);
  expect(await both()).toEqual({ list: ['earlier'], live: ['r1'] });
  await writer.complete(EXAMPLE_END);
  const record = await recordServed(directory, 'r1');
  await writer.publish();
  expect(await both()).toEqual({ list: ['earlier'], live: ['r1'] });
  await record.stop();
  const { list, live } = await both();
  expect([[...list].sort(), live]).toEqual([['earlier', 'r1'], []]);
});

test('the list is the same object while nothing changes, also without the run that is still live', async () => {
  const writer = await store.begin(examplePlan({ run_id: 'r1' }), METRICS);
  await writer.complete(EXAMPLE_END);
  const record = await recordServed(directory, 'r1');
  await writer.publish();
  const during = await source.list();
  expect(await source.list()).toBe(during);
  await record.stop();
  const after = await source.list();
  expect(after).not.toBe(during);
  expect(await source.list()).toBe(after);
});
