import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RecordedLoad, LoadCourse } from '../../../core/run/load.ts';
import { detectFileType } from './detect-file-type.ts';
import { planDataset, planLines } from './plan-file.ts';

const SOURCE: RecordedLoad = {
  prometheus: 'http://prometheus:9090/',
  selector: '{job="vllm"}',
  start: '2026-11-27T09:00:00.000Z',
  end: '2026-11-27T09:01:00.000Z',
  compress: 1,
  scale: 1,
  slot_seconds: 20,
  requests: [10, 40, 0],
  input_tokens: { bounds: [100, 200], counts: [25, 25, 0], mean: 100 },
  output_tokens: { bounds: [1, 8], counts: [50, 0, 0], mean: 1 },
  cached_input_ratio: null,
};
const ALL = { input: null, output: null };
const load = (change: Partial<RecordedLoad> = {}, lengths: LoadCourse['lengths'] = [ALL, ALL, ALL]): LoadCourse => ({
  source: { ...SOURCE, ...change },
  lengths,
});

interface Row {
  readonly timestamp: number;
  readonly input_length: number;
  readonly output_length?: number;
  readonly hash_ids?: readonly number[];
}
const rowsOf = (recorded: LoadCourse, seed = 0): readonly Row[] =>
  [...planLines(recorded, seed)].slice(1).map((line) => JSON.parse(line) as Row);
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

describe('a plan of a recorded load', () => {
  test('has the requests of each slot, in ascending order, the first at the start', () => {
    const times = rowsOf(load()).map(({ timestamp }) => timestamp);
    expect(times[0]).toBe(0);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.filter((time) => time < 20_000)).toHaveLength(10);
    expect(times.filter((time) => time >= 20_000 && time < 40_000)).toHaveLength(40);
    expect(times).toHaveLength(50);
  });

  test('compressed has the rate of the source in less time, scaled a multiple of it', () => {
    const short = rowsOf(load({ compress: 10 }));
    expect(short).toHaveLength(5);
    expect(short.at(-1)?.timestamp).toBeLessThan(4_000);
    expect(rowsOf(load({ scale: 3 }))).toHaveLength(150);
  });

  test('has lengths of the buckets with the mean of the source', () => {
    const rows = rowsOf(load());
    const inputs = rows.map(({ input_length }) => input_length);
    expect(inputs.filter((tokens) => tokens <= 100)).toHaveLength(25);
    expect(Math.max(...inputs)).toBeLessThanOrEqual(200);
    expect(Math.min(...inputs)).toBeGreaterThanOrEqual(1);
    // Two values of 50 would be a mean of 75 to 125: the buckets are hit where the mean of 100 is.
    expect(Math.abs(sum(inputs) / inputs.length - 100)).toBeLessThan(3);
    expect(new Set(rows.map(({ output_length }) => output_length))).toEqual(new Set([1]));
  });

  test.each([1000, 501, 3])('has prompts of %i tokens where all had them', (tokens) => {
    const bounds = [2, 5, 500, 1000];
    const counts = [...bounds, Infinity].map((bound, i) =>
      bound >= tokens && !((bounds[i - 1] ?? 0) >= tokens) ? 50 : 0,
    );
    const inputs = rowsOf(load({ input_tokens: { bounds, counts, mean: tokens } })).map((row) => row.input_length);
    expect(Math.abs(sum(inputs) / inputs.length - tokens)).toBeLessThan(0.01 * tokens + 0.5);
  });

  test('has in each slot the lengths of that slot', () => {
    const lengths = [{ input: [1, 0, 0], output: null }, { input: [0, 1, 0], output: null }, ALL];
    const rows = rowsOf(load({}, lengths));
    expect(rows.every(({ timestamp, input_length }) => input_length <= 100 === timestamp < 20_000)).toBe(true);
  });

  test.each(Array.from({ length: 20 }, (_, seed) => seed))(
    'has the mean of the source when its slots hold few requests (seed %i)',
    (seed) => {
      const requests = Array.from({ length: 100 }, () => 4);
      const input_tokens = { bounds: [100, 1000], counts: [200, 200, 0], mean: 300 };
      const rows = rowsOf(
        load(
          { requests, input_tokens },
          requests.map(() => ALL),
        ),
        seed,
      );
      const mean = sum(rows.map(({ input_length }) => input_length)) / rows.length;
      // A slot of 4 misses it by at most 975 / 4 / 2 = 122; 100 of them, evenly offset, by a twentieth of that together.
      expect(Math.abs(mean - 300)).toBeLessThan(6);
    },
  );

  test('gives slots without lengths of their own what the other slots leave', () => {
    const lengths = [ALL, { input: [10, 30, 0], output: null }, ALL];
    const input_tokens = { bounds: [100, 200], counts: [20, 30, 0], mean: 110 };
    const rows = rowsOf(load({ input_tokens }, lengths));
    const above = rows.filter(({ input_length }) => input_length > 100);
    expect([above.length, above.every(({ timestamp }) => timestamp >= 20_000)]).toEqual([30, true]);
  });

  test('above the last bound lengths are up to twice it', () => {
    const rows = rowsOf(load({ input_tokens: { bounds: [100, 200], counts: [0, 0, 50], mean: 300 } }));
    const inputs = rows.map(({ input_length }) => input_length);
    expect([Math.min(...inputs) > 200, Math.max(...inputs) <= 400]).toEqual([true, true]);
  });

  test('shares a beginning so that the recorded part of the prompt tokens can be cached', () => {
    const input_tokens = { bounds: [1000, 2000], counts: [0, 50, 0], mean: 1500 };
    const rows = rowsOf(load({ cached_input_ratio: 0.4, input_tokens }));
    const shared = sum(rows.map(({ hash_ids = [] }) => 64 * hash_ids.length));
    expect(shared / sum(rows.map(({ input_length }) => input_length))).toBeCloseTo(0.4, 2);
    expect(rows[0]?.hash_ids?.slice(0, 3)).toEqual([0, 1, 2]);
  });

  test('without lengths of responses leaves them to the run', () => {
    expect(rowsOf(load({ output_tokens: null }))[0]).not.toHaveProperty('output_length');
  });

  test('is the same for a seed', () => {
    expect([...planLines(load(), 7)]).toEqual([...planLines(load(), 7)]);
    expect(rowsOf(load(), 7)).not.toEqual(rowsOf(load(), 8));
  });

  test('refuses a load of which nothing or far too much would be sent', () => {
    expect(() => [...planLines(load({ compress: 1000 }), 0)]).toThrow(/^the plan has no request/);
    expect(() => [...planLines(load({ scale: 1e6 }), 0)]).toThrow(/^the plan would have 50000000 requests/);
  });
});

describe('the file of a plan', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-plan-file-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const file = async (name: string, lines: readonly string[]): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, lines);
    return path;
  };
  const options = { outputTokens: null, seed: 0, strategy: 'sequential', tokenizer: null } as const;

  test('is recognized, and has its requests, their times and its source', async () => {
    const path = await file('plan.jsonl', [...planLines(load({ cached_input_ratio: 0.5 }), 0)]);
    expect(detectFileType(path)).toBe('llmbench_plan');
    const dataset = await planDataset({ ...options, file: path });
    expect(dataset.size).toBe(50);
    expect(dataset.due_ns?.[0]).toBe(0);
    expect(dataset.due_ns?.[49]).toBeLessThan(40e9);
    expect(dataset.recordedLoad?.selector).toBe('{job="vllm"}');
    expect(dataset.request('measure', 0).max_tokens).toBe(1);
  });

  test('with a wrong header or row is refused with its line', async () => {
    const [header = '', row = ''] = planLines(load(), 0);
    const refused = async (name: string, lines: readonly string[]) =>
      planDataset({ ...options, file: await file(name, lines) });
    await expect(refused('version.jsonl', [header.replace('plan":1', 'plan":2'), row])).rejects.toThrow(
      /version\.jsonl:1: llmbench_plan must be 1/,
    );
    await expect(
      refused('source.jsonl', [header.replace('"slot_seconds":20', '"slot_seconds":0'), row]),
    ).rejects.toThrow(/source\.jsonl:1: source is not that of a plan/);
    await expect(refused('row.jsonl', [header, row, '{"timestamp":5}\n'])).rejects.toThrow(
      /row\.jsonl:3: input_length is missing/,
    );
  });
});
