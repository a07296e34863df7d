import { expect, test } from '@jest/globals';
import type { RunSummary } from '../../core/api/runs.ts';
import { resultFile, runFile } from '../publish/fixtures/run.ts';
import { resultSummary, runSummary, withNumbers } from '../publish/views/run-summary.ts';
import { runsTable } from './landing.ts';

const finished = (run_id: string, changes: Parameters<typeof runFile>[0] = {}): RunSummary =>
  withNumbers(runSummary(runFile({ run_id, status: 'completed', ...changes }), null), resultSummary(resultFile()));

/** The cells of each row as text. */
function cells(runs: readonly RunSummary[]): string[][] {
  const rows = [...runsTable(runs).text.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) => row);
  return rows.map((row) => [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => cell));
}

test('a finished run has its figures and a link to its report; a missing value is not 0', () => {
  expect(cells([finished('r1')])[1]).toEqual([
    '<a href="runs/r1" title="r1">2026-11-03 10:15:00</a>',
    'chat',
    'tiny &quot;quoted&quot;',
    'concurrency 8',
    'vllm',
    'completed',
    '4',
    '300 ms',
    '500 ms',
    '–',
    '–',
    '–',
    '–',
  ]);
});

test('a running run has its progress and no report', () => {
  const progress = { phase: 'measure', requests_done: 3, requests_failed: 0, output_tokens: 9, requests_planned: 10, elapsed_seconds: 1, planned_seconds: null } as const; // prettier-ignore
  const [, row = []] = cells([runSummary(runFile({ run_id: 'r2' }), progress)]);
  expect([row[0], row[5], row[6]]).toEqual(['2026-11-03 10:15:00', 'running', '3 of 10']);
});

test('text of a run is escaped', () => {
  const scenario = '<img src=x onerror=alert(1)>';
  expect(runsTable([finished('r1', { scenario })]).text).not.toContain('<img');
});

test('more than 50: the newest, and the total', () => {
  const runs = Array.from({ length: 60 }, (_, i) => finished(`r${i}`));
  expect(cells(runs)).toHaveLength(51);
  expect(runsTable(runs).text.replace(/\s+/g, ' ')).toContain(
    '60 runs, newest first; 10 older runs are available from the API',
  );
  expect(runsTable([]).text).toContain('No runs yet');
});
