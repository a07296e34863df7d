import { expect, test } from '@jest/globals';
import { damagedRun, type IndexedRun } from '../index/rows.ts';
import { prunedRuns, type PruneRules } from './delete-run.ts';

const NOW = new Date('2026-11-21T00:00:00Z');
const NO_RULES: PruneRules = { keepLast: null, keepDays: null, keepTagged: false };

function run(run_id: string, change: Partial<IndexedRun> = {}): IndexedRun {
  return { ...damagedRun(run_id, ''), damage: null, scenario: 's', ...change };
}

/** Newest first, one a day. */
const RUNS = ['21', '20', '19', '18'].map((day) => run(`d${day}`, { start: `2026-11-${day}T00:00:00.000Z` }));

const pruned = (runs: readonly IndexedRun[], rules: Partial<PruneRules>): string[] =>
  prunedRuns(runs, { ...NO_RULES, ...rules }, NOW).map(({ run_id }) => run_id);

test('the newest of each scenario are kept', () => {
  const rare = run('rare', { scenario: 'rare', start: '2020-01-01T00:00:00.000Z' });
  expect(pruned([...RUNS, rare], { keepLast: 3 })).toEqual(['d18']);
  expect(pruned([...RUNS, rare], { keepLast: 0 })).toEqual(['d21', 'd20', 'd19', 'd18', 'rare']);
});

test('recent runs are kept, and those of unknown age', () => {
  expect(pruned([...RUNS, run('timeless')], { keepDays: 2 })).toEqual(['d19', 'd18']);
});

test('a run is kept if any rule keeps it', () => {
  const tagged = RUNS.map((each) => (each.run_id === 'd18' ? { ...each, tags: ['baseline'] } : each));
  expect(pruned(tagged, { keepLast: 1, keepDays: 2, keepTagged: true })).toEqual(['d19']);
  expect(pruned(tagged, { keepLast: 1 })).toEqual(['d20', 'd19', 'd18']);
});

test('runs without a start are as old as their import, and kept where it is not known how new they are', () => {
  const imported = ['19', '18', '17'].map((day, i) =>
    run(`i${day}`, { imported_at: `2026-11-${day}T00:00:00.000Z`, import_position: i }),
  );
  expect(pruned([...imported, run('unknown')], { keepLast: 2 })).toEqual(['i17']);
  expect(pruned([...imported, run('unknown')], { keepDays: 3 })).toEqual(['i18', 'i17']);
  expect(pruned([...imported, run('unknown')], { keepLast: 0 })).toEqual(['i19', 'i18', 'i17', 'unknown']);
});

test('a damaged run is never removed', () => {
  expect(pruned([damagedRun('x', 'it is not JSON')], { keepLast: 0 })).toEqual([]);
});
