import { expect, test } from '@jest/globals';
import { runFile } from './fixtures/run.ts';
import { targetGroups } from './http-sd.ts';

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
