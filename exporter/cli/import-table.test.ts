import { expect, test } from '@jest/globals';
import { progressText } from './import-progress.ts';
import { importJson, importTable } from './import-table.ts';

const REPORT = {
  outcomes: [
    {
      status: 'imported' as const,
      name: 'artifacts',
      tool: 'aiperf',
      run_id: '20261121T164650Z-0123456789',
      notes: ['disagrees: request_latency p99: the file says 1, its records give 2', 'x'.repeat(1000)],
      disagreements: 1,
    },
    { status: 'known' as const, name: 'old', tool: 'vllm', run_id: 'undated-0123456789' },
    { status: 'refused' as const, name: 'bad.json', tool: 'vllm', reason: 'it is cut off', missing: false },
  ],
  unrecognised: 3,
  passedOver: 2,
  deferred: 0,
};

test('one line per result, its notes below, cut where a terminal would not bear them, and a sum', () => {
  const lines = importTable(REPORT).split('\n');
  expect(lines[0]).toBe('imported       20261121T164650Z-0123456789  aiperf  artifacts');
  expect(lines[1]).toBe('               disagrees: request_latency p99: the file says 1, its records give 2');
  expect(lines[2]).toMatch(/^ {15}x{180,220}… \(run\.json has the whole\)$/);
  expect(lines.slice(3)).toEqual([
    'already known  undated-0123456789  vllm  old',
    'refused        bad.json: it is cut off',
    '',
    '1 imported (1 contradict themselves), 1 already known, 1 refused; 2 files passed over (they hold nothing to import); ' +
      '3 files are no results of a known tool',
    '',
  ]);
});

test('for machines everything is on one line', () => {
  const text = importJson(REPORT);
  expect(text).not.toContain('\n');
  expect(JSON.parse(text)).toEqual({ results: REPORT.outcomes, files: { unrecognised: 3, passed_over: 2 } });
});

test('nothing found is said', () => {
  expect(importTable({ outcomes: [], unrecognised: 0, passedOver: 0, deferred: 0 })).toBe(
    'no result of a known tool was found; 0 imported, 0 already known, 0 refused\n',
  );
});

test('progress has the rate and the time left', () => {
  expect(progressText({ seconds: 2, read: 100e6, planned: 400e6, done: 1, groups: 4 })).toBe(
    'importing 1/4 results · 25 % · 50 MB/s · 6 s left',
  );
  expect(progressText({ seconds: 4, read: 400e6, planned: 400e6, done: 3, groups: 4 })).toBe(
    'importing 3/4 results · 100 % · 100 MB/s · summing up and writing the last',
  );
  expect(progressText({ seconds: 1, read: 0, planned: 0, done: 0, groups: 0 })).toBe('looking for results');
});
