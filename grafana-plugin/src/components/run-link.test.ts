import { runSummary } from '../../../core/api/testing/run-summary.ts';
import { compareUrl, runUrl, timeOfRuns, verdictUrl } from './run-link.ts';

const START = Date.parse('2026-11-21T10:00:00Z');

test('the time range holds all runs with a margin; a run that lasts ends now', () => {
  const later = runSummary({ start: '2026-11-21T11:00:00.000Z', end: '2026-11-21T11:01:00.000Z' });
  expect(timeOfRuns([runSummary(), later])).toEqual({ from: START - 15_000, to: START + 3_675_000 });
  expect(timeOfRuns([runSummary({ status: 'running', end: null })])?.to).toBe('now');
  expect(timeOfRuns([runSummary({ start: null, end: null })])).toBeNull();
});

test('a link keeps the selected data sources and drops other parameters', () => {
  const url = new URL(runUrl(runSummary({ run_id: 'a' }), '?var-exporter=x&q=words&from=now-1h'), 'http://g');
  expect(url.pathname).toBe('/a/llmbench-observability-app/runs/a');
  expect(Object.fromEntries(url.searchParams)).toEqual({
    'var-exporter': 'x',
    from: String(START - 15_000),
    to: String(START + 25_000),
  });
});

test('of compared runs the first is the baseline', () => {
  const runs = ['b', 'a', 'c'].map((run_id) => runSummary({ run_id }));
  const url = new URL(compareUrl(runs, '?var-exporter=x&a=old'), 'http://g');
  expect(url.pathname).toBe('/a/llmbench-observability-app/compare');
  expect(url.searchParams.getAll('a')).toEqual(['b']);
  expect(url.searchParams.getAll('b')).toEqual(['a', 'c']);
  expect(url.searchParams.get('var-exporter')).toBe('x');
});

test('the comparison of a verdict leaves out the suspect run, and is none without runs of both sets', () => {
  const verdict = { baseline_run_ids: ['a', 'b'], run_ids: ['suspect', 'c', 'd'], left_out: 'suspect' };
  const url = new URL(verdictUrl(verdict, '') ?? '', 'http://g');
  expect(url.searchParams.getAll('a')).toEqual(['a', 'b']);
  expect(url.searchParams.getAll('b')).toEqual(['c', 'd']);
  expect(url.searchParams.get('left_out')).toBe('suspect');
  expect(verdictUrl({ ...verdict, baseline_run_ids: [] }, '')).toBeNull();
  expect(verdictUrl({ ...verdict, run_ids: ['suspect'] }, '')).toBeNull();
});
