import type { RunResponse } from '../../../../core/api/runs.ts';
import { runRegions } from './run-regions.ts';

const at = (seconds: number) => new Date(Date.parse('2026-11-26T10:00:00Z') + seconds * 1000).toISOString();
const phases = [
  { phase: 'warmup', start: at(1), end: at(2) },
  { phase: 'measure', start: at(2), end: at(14) },
  { phase: 'cooldown', start: at(13), end: at(15) },
];
const rate = { duration_seconds: 5, concurrency: null, request_rate: { start: 5, end: 20 } };
const fixed = { duration_seconds: 5, concurrency: 64, request_rate: null };

function regions(stages: unknown[] | null, start: string | null = at(0)) {
  const result = stages === null ? null : { stages };
  return runRegions({ run: { start, phases }, result } as unknown as RunResponse);
}

test('the phases of a run that began and ended', () => {
  expect(regions([])).toEqual([
    { label: 'warmup', from: 1, to: 2 },
    { label: 'measure', from: 2, to: 14 },
    { label: 'cooldown', from: 13, to: 15 },
  ]);
  expect(regions(null)).toHaveLength(3);
  expect(regions([], null)).toEqual([]);
});

test('stages instead of the measure phase, without one that had not begun', () => {
  const stages = [
    { stage: 1, load: rate, start: at(2), end: at(7) },
    { stage: 2, load: fixed, start: at(7), end: at(12) },
    { stage: 3, load: fixed, start: null, end: null },
  ];
  expect(regions(stages).map(({ label, from, to }) => [label, from, to])).toEqual([
    ['warmup', 1, 2],
    ['1 rate=5..20', 2, 7],
    ['2 concurrency=64', 7, 12],
    ['cooldown', 13, 15],
  ]);
});
