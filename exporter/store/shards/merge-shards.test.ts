import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SummaryAccumulator } from '../../../core/measures/summary.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { collect, examplePlan, exampleRecord } from '../fixtures/example-run.ts';
import { mergeShards } from './merge-shards.ts';
import { INSTANT_COLUMNS } from '../records/copy-records.ts';
import { RECORD_COLUMNS } from '../records/record-columns.ts';
import { openStore, type RunStore } from '../run-store.ts';
import { UNKNOWN_HEALTH } from '../sealed/seal-run.ts';
import type { RunEnd } from '../run-writer.ts';
import { shardDirectory } from '../run-paths.ts';

let runs = '';
let store: RunStore;
beforeEach(async () => {
  runs = await mkdtemp(join(tmpdir(), 'llmbench-shards-'));
  ({ store } = await openStore(runs));
});
afterEach(() => rm(runs, { recursive: true }));

/** Durations and offsets: independent of the run's zero. */
const DURATIONS: readonly string[] = [
  'connect_ns',
  'tcp_connect_ns',
  'audio_ns',
  'chunk_offsets_ns',
  'think_ns',
  'tool_ns',
];

const END: RunEnd = {
  status: 'completed',
  failure: null,
  phases: [{ phase: 'measure', start: '2026-01-02T03:04:05.000Z', end: '2026-01-02T03:04:25.000Z' }],
  health: { ...UNKNOWN_HEALTH, verdict: 'ok', event_loop_delay_p99_seconds: 0.001, cpu_seconds: 2 },
  end: '2026-01-02T03:04:30.000Z',
};

interface ShardChange {
  readonly plan?: Partial<RunFile>;
  readonly end?: Partial<RunEnd>;
}

async function writeShard(
  shard: number,
  start: string,
  records: readonly RequestRecord[],
  change: ShardChange = {},
): Promise<void> {
  const { store: own } = await openStore(shardDirectory(runs, 'night', String(shard)));
  const writer = await own.begin(examplePlan({ run_id: 'night', shard: String(shard), start, ...change.plan }));
  for (const record of records) writer.requestEnded(record);
  await writer.finish({ ...END, ...change.end });
}

const ofIndex = (indices: readonly number[]): RequestRecord[] =>
  indices.map((index) => ({ ...exampleRecord(index), index, phase: 'measure' }));

describe('the shards of a run as one', () => {
  test('records on the clock of the first that started, and the result of all of them', async () => {
    const [even, odd] = [ofIndex([0, 2, 4, 6]), ofIndex([1, 3, 5])];
    await writeShard(0, '2026-01-02T03:04:05.250Z', even);
    await writeShard(1, '2026-01-02T03:04:05.000Z', odd);
    const { result, shards, notes } = await mergeShards(store, 'night');
    expect(shards).toEqual({ count: 2, missing: [] });
    expect(notes).toEqual(['7 of 10 planned requests found: is a shard missing?']);
    const run = await store.readRun('night');
    expect(run).toMatchObject({ run_id: 'night', shard: '0', start: '2026-01-02T03:04:05.000Z', status: 'completed' });
    const records = await collect(store.readRecords(run));
    const moved = even.map((record) => ({
      ...record,
      due_ns: (record.due_ns ?? NaN) + 250e6,
      sent_ns: record.sent_ns + 250e6,
      end_ns: record.end_ns + 250e6,
      first_content_ns: plus(record.first_content_ns),
      first_output_ns: plus(record.first_output_ns),
      last_content_ns: plus(record.last_content_ns),
    }));
    expect(records).toEqual([...moved, ...odd]);
    const summary = new SummaryAccumulator({ plannedConcurrency: null });
    for (const record of [...moved, ...odd]) summary.add(record);
    expect(result.requests).toEqual(summary.requests);
    expect(result).toEqual(await store.readResult('night'));
    expect(result.client).toMatchObject({ verdict: 'ok', cpu_seconds: 4, event_loop_delay_p99_seconds: 0.001 });
    expect((await readdir(runs)).sort()).toEqual(expect.arrayContaining(['night', 'night.shards']));
    expect((await store.list()).map(({ run_id, damage }) => [run_id, damage])).toEqual([['night', null]]);
  });

  test('one that failed makes the run one that failed, and says which', async () => {
    await writeShard(0, '2026-01-02T03:04:05.000Z', ofIndex([0]));
    const end = { status: 'failed' as const, failure: 'stopped after 50 errors in a row' };
    const health = { ...END.health, verdict: 'saturated' as const, why: 'p99 event-loop delay 9 ms' };
    await writeShard(1, '2026-01-02T03:04:05.000Z', ofIndex([1]), { end: { ...end, health } });
    const { result } = await mergeShards(store, 'night');
    expect(result.status).toBe('failed');
    expect((await store.readRun('night')).failure).toBe('shard 1: stopped after 50 errors in a row');
    expect(result.client).toMatchObject({ verdict: 'saturated', why: 'shard 1: p99 event-loop delay 9 ms' });
  });
});

test('missing shards, when they are allowed, make a run that is aborted and says which', async () => {
  const shards = { count: 4, missing: ['0', '2', '3'] };
  await writeShard(1, '2026-01-02T03:04:05.000Z', ofIndex([1, 5]), { plan: { shards } });
  await openStore(shardDirectory(runs, 'night', '3'));
  const merged = await mergeShards(store, 'night', true);
  expect(merged.shards).toEqual({ count: 4, missing: ['0', '2', '3'] });
  const run = await store.readRun('night');
  expect(run).toMatchObject({
    ...{ status: 'aborted', shard: '0', shards: merged.shards },
    failure: 'incomplete: shards 0, 2 and 3 of 4 are missing',
  });
  expect(merged.result.requests.ok).toBe(2);
});

describe('invalid shards are rejected, and leave nothing behind', () => {
  const refused = async (complaint: string): Promise<void> => {
    await expect(mergeShards(store, 'night')).rejects.toThrow(complaint);
    await expect(mergeShards(store, 'night')).rejects.toMatchObject({ code: 'failed' });
    expect(await store.list()).toEqual([]);
  };

  test('no shards', () => refused('no shards of run night'));

  test('a missing shard in the middle', async () => {
    await writeShard(0, '2026-01-02T03:04:05.000Z', ofIndex([0]));
    await writeShard(2, '2026-01-02T03:04:05.000Z', ofIndex([2]));
    await refused('shard 1 of run night is missing');
  });

  test('a missing shard at the end, of which the others know', async () => {
    const shards = { count: 3, missing: ['1', '2'] };
    await writeShard(0, '2026-01-02T03:04:05.000Z', ofIndex([0]), { plan: { shards } });
    await refused('shards 1 and 2 of run night are missing');
  });

  test('another plan', async () => {
    await writeShard(0, '2026-01-02T03:04:05.000Z', ofIndex([0]));
    const plan = examplePlan({});
    const comparison_key = { ...plan.comparison_key, model: 'another' };
    await writeShard(1, '2026-01-02T03:04:05.000Z', ofIndex([1]), { plan: { comparison_key } });
    await refused('shard 1 has another plan than shard 0');
  });

  test('merged already', async () => {
    await writeShard(0, '2026-01-02T03:04:05.000Z', ofIndex([0]));
    await mergeShards(store, 'night');
    await expect(mergeShards(store, 'night')).rejects.toThrow('run night exists in');
  });
});

test('every column of nanoseconds is known to be an instant or not', () => {
  const times = RECORD_COLUMNS.map(({ name }) => name as string).filter((name) => name.endsWith('_ns'));
  const isKnown = (name: string): boolean =>
    (INSTANT_COLUMNS as readonly string[]).includes(name) || DURATIONS.includes(name) || name.startsWith('http_');
  expect(times.filter((name) => !isKnown(name))).toEqual([]);
});

const plus = (at_ns: number | null): number | null => (at_ns === null ? null : at_ns + 250e6);
