import { expect, test } from '@jest/globals';
import { resultFile, runFile } from '../fixtures/run.ts';
import { phaseAnnotations, scaleAnnotations, stageAnnotations } from './annotations.ts';
import { resultSummary, runSummary, withNumbers } from './run-summary.ts';

const { requests, window, errors, measures, slos } = resultFile();
const rest = { requests, window, errors, measures, slos };
const rate = { duration_seconds: 5, concurrency: null, request_rate: { start: 5, end: 20 } };
const fixed = { duration_seconds: 5, concurrency: 64, request_rate: null };
const [begun, changed, ended] = [550, 5550, 10_550].map((ms) =>
  new Date(Date.parse('2026-11-03T10:15:00Z') + ms).toISOString(),
) as [string, string, string];

const stages = [
  { ...rest, stage: 1, load: rate, start: begun, end: changed },
  { ...rest, stage: 2, load: fixed, start: changed, end: ended },
  { ...rest, stage: 3, load: fixed, start: null, end: null },
];
const run = runFile({ phases: [{ phase: 'measure', start: begun, end: ended }] });
const summary = withNumbers(runSummary(run, null), resultSummary(resultFile({ stages })));

test('a region for each stage that began, beside those of the phases', () => {
  expect(stageAnnotations(summary)).toMatchObject([
    {
      id: `${run.run_id}/stage-1`,
      kind: 'stage',
      ...{ stage: 1, phase: null, title: '1 rate=5..20' },
      ...{ time: Date.parse(begun), timeEnd: Date.parse(changed) },
      tags: expect.arrayContaining(['llmbench', 'scenario:chat', 'stage:1']),
    },
    { stage: 2, title: '2 concurrency=64', time: Date.parse(changed), timeEnd: Date.parse(ended) },
  ]);
  expect(phaseAnnotations(summary)).toMatchObject([{ kind: 'phase', phase: 'measure', stage: null }]);
});

test('none while the run lasts, and none without stages', () => {
  expect(stageAnnotations(runSummary(run, null))).toEqual([]);
  expect(stageAnnotations(withNumbers(runSummary(run, null), resultSummary(resultFile())))).toEqual([]);
});

test('a moment for each server that started or ended', () => {
  const [target, time] = ['http://10.0.0.7:8000/metrics', '2026-11-03T10:15:03.000Z'];
  const collector = { interval_seconds: 1, cpu_seconds: null, cpu_share: null };
  const facts = { exact: null, why: null, requests: null, gpu_energy: null, collector, targets: [] };
  const servers = { ...facts, target_changes: [{ time, target, change: 'joined' as const }] };
  expect(scaleAnnotations(withNumbers(runSummary(run, null), resultSummary(resultFile({ servers }))))).toMatchObject([
    { kind: 'scale', title: `${target} joined`, time: Date.parse(time), timeEnd: Date.parse(time) },
  ]);
});
