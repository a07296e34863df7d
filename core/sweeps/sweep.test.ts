import { describe, expect, test } from '@jest/globals';
import { sweepsOf } from './sweep.ts';
import { sweepNames } from './sweep-names.ts';
import { exampleSweepRun, type GivenRun } from './testing/sweep-run.ts';

const run = (load: number, change: GivenRun['change'] = {}, figures: GivenRun['figures'] = {}) =>
  exampleSweepRun({ load, change, figures });

describe('which runs are a sweep', () => {
  test('those of a group with two loads, and of a scenario the runs of no such group', () => {
    const sweeps = sweepsOf([
      ...[1, 2, 4].map((load) => run(load, { group_id: 'g' })),
      ...[1, 8].map((load) => run(load)),
      // Repeats of one load are no sweep of their own: they are repeats of the scenario's.
      ...[8, 8].map((load) => run(load, { group_id: 'repeats' })),
    ]);
    expect(sweeps.map(({ sweep }) => [sweep.source, sweep.steps.map(({ load, runs }) => [load, runs.length])])).toEqual(
      [
        [
          { kind: 'scenario', name: 'chat' },
          [
            [1, 1],
            [8, 3],
          ],
        ],
        [
          { kind: 'group', name: 'g' },
          [
            [1, 1],
            [2, 1],
            [4, 1],
          ],
        ],
      ],
    );
  });

  test('each variant of a matrix is one', () => {
    const sweeps = sweepsOf(
      ['short', 'long'].flatMap((key) => [1, 2].map((load) => run(load, { group_id: 'g', key }))),
    );
    expect(sweeps).toHaveLength(2);
    expect(new Set(sweeps.map(({ key }) => key)).size).toBe(2);
  });

  test('one load is none', () => {
    expect(sweepsOf([run(4), run(4)])).toEqual([]);
  });
});

describe('what a sweep says', () => {
  test('its knee, from the output tokens', () => {
    const throughput = [10, 20, 40, 45, 46];
    const runs = throughput.map((output_token_throughput, i) => run(2 ** i, {}, { output_token_throughput }));
    expect(sweepsOf(runs)[0]?.sweep.knee).toEqual({ method: 'kneedle', figure: 'output_token_throughput', load: 4 });
  });

  test('its GPUs, when all runs report the same number', () => {
    const gpus = (...counts: (number | null)[]) =>
      sweepsOf(counts.map((count, i) => run(i + 1, { gpus: count })))[0]?.sweep.gpus;
    expect(gpus(8, 8)).toBe(8);
    expect(gpus(8, 4)).toBeNull();
    expect(gpus(8, null)).toBeNull();
  });
});

describe('names of sweeps beside each other', () => {
  const sweep = (change: object) => {
    const [found] = sweepsOf([run(1), run(2)]);
    if (found === undefined) throw new Error('two loads are a sweep');
    return { ...found.sweep, ...change };
  };

  test('say what differs', () => {
    expect(sweepNames([sweep({ system_version: '0.10.0' }), sweep({ system_version: '0.11.0' })])).toEqual([
      'vllm 0.10.0',
      'vllm 0.11.0',
    ]);
  });

  test('say the start where nothing else differs', () => {
    expect(sweepNames([sweep({ start: '2026-01-01T10:00:00Z' }), sweep({ start: '2026-01-02T11:30:00Z' })])).toEqual([
      'chat · vllm 0.11.0 · m · 2026-01-01 10:00',
      'chat · vllm 0.11.0 · m · 2026-01-02 11:30',
    ]);
  });

  test('of one alone', () => {
    expect(sweepNames([sweep({})])).toEqual(['chat · vllm 0.11.0 · m']);
  });
});
