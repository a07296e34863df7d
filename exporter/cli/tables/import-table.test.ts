import { expect, test } from '@jest/globals';
import { progressText } from '../progress/import-progress.ts';
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
  unrecognized: ['a.txt', 'b.txt', 'c.csv', 'd', 'e'],
  mappable: ['c.csv'],
  unmapped: [],
  passedOver: Array.from({ length: 2 }, () => ({ tool: 'inference-perf', reason: 'averages of server metrics' })),
  deferred: 0,
};

const NOTHING = { outcomes: [], unrecognized: [], mappable: [], unmapped: [], passedOver: [], deferred: 0 };

test('one line per result, its notes below, cut where a terminal would not bear them, and a sum', () => {
  const lines = importTable(REPORT).split('\n');
  expect(lines[0]).toBe('imported       20261121T164650Z-0123456789  aiperf  artifacts');
  expect(lines[1]).toBe('               disagrees: request_latency p99: the file says 1, its records give 2');
  expect(lines[2]).toMatch(/^ {15}x{180,220}… \(complete in run\.json\)$/);
  expect(lines.slice(3)).toEqual([
    'already known  undated-0123456789  vllm  old',
    'refused        bad.json: it is cut off',
    '',
    'passed over    inference-perf  2 files: averages of server metrics',
    '',
    '1 imported (1 contradicts itself), 1 already known, 1 refused; 2 files passed over; ' +
      '5 files are no results of a known tool: a.txt, b.txt, c.csv and 2 more',
    '',
  ]);
});

test('for machines everything is on one line', () => {
  const text = importJson(REPORT);
  expect(text).not.toContain('\n');
  expect(JSON.parse(text)).toEqual({
    results: REPORT.outcomes,
    files: { unrecognized: 5, passed_over: 2 },
    passed_over: [{ tool: 'inference-perf', reason: 'averages of server metrics', files: 2 }],
  });
});

test('what is known of a stored run now, and a note of many results once', () => {
  const undated = {
    ...{
      status: 'imported' as const,
      tool: 'vllm',
      notes: ['the time in the file has no time zone'],
      disagreements: 0,
    },
  };
  const outcomes = [
    { ...undated, name: 'a.json', run_id: 'undated-a' },
    { ...undated, name: 'b.json', run_id: 'undated-b' },
    { status: 'updated' as const, name: 'c.json', tool: 'vllm', run_id: 'undated-c', what: 'start time' as const },
  ];
  expect(importTable({ ...NOTHING, outcomes }).split('\n')).toEqual([
    'imported       undated-a  vllm  a.json',
    'imported       undated-b  vllm  b.json',
    'updated        undated-c  vllm  c.json: it has a start time now',
    '',
    'of 2 results: the time in the file has no time zone',
    '',
    '2 imported, 0 already known, 1 updated, 0 refused',
    '',
  ]);
});

test('finding nothing is reported', () => {
  expect(importTable(NOTHING)).toMatch(
    /^no results of a known tool found; 0 imported, 0 already known, 0 refused\nexpected: result files of a supported tool \(JSON, /,
  );
});

test('a table of somebody’s own that nothing knows: its name, and what to do', () => {
  expect(importTable({ ...NOTHING, unrecognized: ['other.json', 'mine.csv'], mappable: ['mine.csv'] })).toBe(
    'no results of a known tool found; 0 imported, 0 already known, 0 refused; ' +
      '2 files are no results of a known tool: other.json, mine.csv\n' +
      'to import mine.csv, describe its columns with --mapping FILE (docs/guides/import-results.md)\n',
  );
});

test('a mapping that does not fit: the columns of the file instead of the advice to write one', () => {
  const unmapped = ['mine.csv has none of the mapped columns "a", but "x"'];
  expect(importTable({ ...NOTHING, unrecognized: ['mine.csv'], unmapped }).split('\n')[1]).toBe(
    '--mapping: mine.csv has none of the mapped columns "a", but "x"',
  );
});

test('a remark on several results appears once, with their number', () => {
  const imported = (run_id: string, ...notes: string[]) => ({
    status: 'imported' as const,
    name: run_id,
    tool: 'vllm',
    run_id,
    notes,
    disagreements: 0,
  });
  const outcomes = [imported('r1', 'no zone', '3 failed'), imported('r2', 'no zone'), imported('r3', '4 failed')];
  const text = importTable({ ...NOTHING, outcomes });
  expect(text.match(/no zone/g)).toHaveLength(1);
  expect(text).toContain('\n\nof 2 results: no zone\n\n3 imported');
  expect(text).toContain('3 failed\n');
});

test('progress has the rate and the time left', () => {
  expect(progressText({ seconds: 2, read: 100e6, planned: 400e6, done: 1, groups: 4 })).toBe(
    'importing 1/4 results · 25 % · 50 MB/s · 6 s left',
  );
  expect(progressText({ seconds: 4, read: 400e6, planned: 400e6, done: 3, groups: 4 })).toBe(
    'importing 3/4 results · 100 % · 100 MB/s · summarizing and writing the last',
  );
  expect(progressText({ seconds: 1, read: 0, planned: 0, done: 0, groups: 0 })).toBe('looking for results');
});
