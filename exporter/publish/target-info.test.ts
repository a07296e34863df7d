import { expect, test } from '@jest/globals';
import type { ServersResult } from '../../core/run/result.ts';
import { finishedRunFamilies } from './finished-run.ts';
import { resultFile, runFile } from './fixtures/run.ts';
import { target } from './fixtures/servers.ts';
import { finishedSeries, INFO_EVERY_MS } from './remote-write/pushed-series.ts';
import { targetGroups } from './target-info.ts';

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

const running = (run_id: string, metrics_url: string | null, server_metrics_urls: string[]) =>
  runFile({ run_id, process: { pid: 1, start_time: '1', metrics_url, server_metrics_urls } });

test('runs and their servers, each once; run_id is no label of a target', () => {
  const groups = targetGroups([
    running('r1', 'http://127.0.0.1:9470/metrics', ['http://gpu-1:8000/metrics', 'https://gpu-2/prom']),
    running('r2', 'http://[::1]:9471/metrics', ['http://gpu-1:8000/metrics']),
  ]);
  expect(groups).toEqual([
    {
      targets: ['127.0.0.1:9470'],
      labels: {
        job: 'llmbench-run',
        __scheme__: 'http',
        __metrics_path__: '/metrics',
        __meta_llmbench_role: 'run',
        __meta_llmbench_run_id: 'r1',
      },
    },
    {
      targets: ['[::1]:9471'],
      labels: {
        job: 'llmbench-run',
        __scheme__: 'http',
        __metrics_path__: '/metrics',
        __meta_llmbench_role: 'run',
        __meta_llmbench_run_id: 'r2',
      },
    },
    {
      targets: ['gpu-1:8000'],
      labels: {
        job: 'llmbench-server',
        __scheme__: 'http',
        __metrics_path__: '/metrics',
        __meta_llmbench_role: 'server',
      },
    },
    {
      targets: ['gpu-2:443'],
      labels: {
        job: 'llmbench-server',
        __scheme__: 'https',
        __metrics_path__: '/prom',
        __meta_llmbench_role: 'server',
      },
    },
  ]);
});

test('runs of one command, which share a page, are one target, named by the newest of them', () => {
  const shared = { pid: 1, start_time: '1', metrics_url: 'http://127.0.0.1:9470/metrics', server_metrics_urls: [] };
  const groups = targetGroups([
    runFile({ run_id: 'step-0', start: '2026-11-21T19:00:00.000Z', process: shared }),
    runFile({ run_id: 'step-1', start: '2026-11-21T19:01:00.000Z', process: shared }),
  ]);
  expect(groups.map(({ targets, labels }) => [...targets, labels['__meta_llmbench_run_id']])).toEqual([
    ['127.0.0.1:9470', 'step-1'],
  ]);
});

test('a run that serves no metrics is no target, its servers are', () => {
  expect(targetGroups([running('r1', null, ['http://gpu-1:8000/metrics'])])).toHaveLength(1);
  expect(targetGroups([runFile({ process: null })])).toEqual([]);
});

test('user info and query are removed, and other schemes than HTTP are left out', () => {
  const groups = targetGroups([
    running('r1', null, ['http://user:secret@gpu-1:8000/metrics?token=abc#x', 'file:///etc/passwd', 'nonsense']),
  ]);
  expect(groups).toHaveLength(1);
  expect(JSON.stringify(groups)).not.toMatch(/secret|abc/);
});
