import { expect, test } from '@jest/globals';
import type { ServersResult } from '../../core/run/result.ts';
import { finishedRunFamilies } from './finished-run.ts';
import { resultFile, runFile } from './fixtures/run.ts';
import { target } from './fixtures/servers.ts';
import { targetGroups } from './http-sd.ts';
import { finishedSeries, INFO_EVERY_MS } from './remote-write/finished-series.ts';

function servers(targets: ServersResult['targets']): ServersResult {
  const collector = { interval_seconds: 1, cpu_seconds: null, cpu_share: null };
  return { exact: true, why: null, requests: null, gpu_energy: null, collector, targets };
}

function families(targets: ServersResult['targets']) {
  const run = runFile({ run_id: 'r1', status: 'completed' });
  return finishedRunFamilies({ run, result: resultFile({ servers: servers(targets) }), servers: null });
}

const labelsOf = (targets: ServersResult['targets']) =>
  families(targets)
    .find(({ name }) => name === 'llmbench_run_target_info')
    ?.samples.map(({ labels }) => labels) ?? [];

test('the pages of a finished run that were read, each once', () => {
  const gone = { ...target('http://gpu-2:8000/metrics', null), state: 'gone' as const };
  const never = { ...target('http://gpu-3:8000/metrics', 'vllm'), state: 'waiting' as const };
  const other = { ...target('http://gpu-4:80/', null), state: 'not_metrics' as const };
  const first = target('http://gpu-1:8000/metrics', 'vllm');
  expect(labelsOf([first, gone, never, other, first])).toEqual([
    { run_id: 'r1', target: 'http://gpu-1:8000/metrics', address: 'gpu-1:8000', system: 'vllm' },
    { run_id: 'r1', target: 'http://gpu-2:8000/metrics', address: 'gpu-2:8000', system: '' },
  ]);
});

test('a run that collected nothing has no such family', () => {
  const run = runFile({ run_id: 'r1', status: 'completed' });
  const names = finishedRunFamilies({ run, result: resultFile(), servers: null }).map(({ name }) => name);
  expect(names).not.toContain('llmbench_run_target_info');
});

test('the address is the one under which Prometheus finds the same page, whatever the URL leaves out', () => {
  const urls = [
    'http://gpu-1/metrics',
    'https://gpu-2/metrics',
    'http://[::1]:9000/metrics',
    'http://gpu-4:81/metrics',
  ];
  const process = { pid: 1, start_time: '1', metrics_url: null, server_metrics_urls: urls };
  const discovered = targetGroups([runFile({ process })]).flatMap(({ targets }) => targets);
  expect(labelsOf(urls.map((url) => target(url, null))).map(({ address }) => address)).toEqual(discovered);
  expect(discovered).toEqual(['gpu-1:80', 'gpu-2:443', '[::1]:9000', 'gpu-4:81']);
});

test('at its original times it exists throughout the run, as the other facts of the run do', () => {
  const all = families([target('http://gpu-1:8000/metrics', 'vllm')]);
  const series = finishedSeries(all, { start_ms: 0, end_ms: 2.5 * INFO_EVERY_MS }, {});
  const times = (metric: string) =>
    series
      .find(({ layout }) => layout.series.some(({ labels }) => labels.some(([, value]) => value === metric)))
      ?.points.map(({ time_ms }) => time_ms);
  expect(times('llmbench_run_target_info')?.slice(0, 4)).toEqual([0, 60_000, 120_000, 150_000]);
  expect(times('llmbench_run_target_info')).toEqual(times('llmbench_run_info'));
});
