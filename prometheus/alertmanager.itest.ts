import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWithAlertmanager } from './testing/describe-prometheus.ts';
import { startAlertmanager, type RunningServer } from './server.ts';

const CONFIG = fileURLToPath(new URL('alertmanager.yml', import.meta.url));

type Labels = Readonly<Record<string, string>>;

const REGRESSED = { alertname: 'LlmScenarioRegressed', scenario: 'chat', severity: 'critical' };
const QUEUE = { alertname: 'LlmQueueSaturated', instance: 'a:8000', severity: 'warning' };

await describeWithAlertmanager('the Alertmanager example', (programs) => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-alertmanager-'));
  });

  afterAll(() => rm(folder, { recursive: true }));

  test('is accepted by amtool', async () => {
    const { stdout } = await promisify(execFile)(programs.amtool, ['check-config', CONFIG]);
    expect(stdout).toContain('SUCCESS');
  });

  test.each([
    [REGRESSED, 'notify'],
    [QUEUE, 'notify'],
    [{ alertname: 'LlmBenchmarkRunning', instance: 'a:8000', severity: 'info' }, 'none'],
    [{ alertname: 'LlmScenarioSlowerHeuristic', scenario: 'chat', severity: 'info' }, 'none'],
  ] as readonly (readonly [Labels, string])[])('sends %j to %s', async (labels, receiver) => {
    const args = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    const routed = await promisify(execFile)(programs.amtool, [
      'config',
      'routes',
      'test',
      `--config.file=${CONFIG}`,
      ...args,
    ]);
    expect(routed.stdout.trim()).toBe(receiver);
  });

  test.each<readonly [string, Labels, Labels, boolean]>([
    [
      'a saturated client inhibits the regression of its scenario',
      { alertname: 'LlmClientSaturated', scenario: 'chat', run_id: 'r', instance: 'c:1' },
      REGRESSED,
      true,
    ],
    [
      'a saturated client of another scenario does not',
      { alertname: 'LlmClientSaturated', scenario: 'code', run_id: 'r', instance: 'c:1' },
      REGRESSED,
      false,
    ],
    [
      'an open regression inhibits that its checks are undecided',
      REGRESSED,
      { alertname: 'LlmScenarioUndecided', scenario: 'chat' },
      true,
    ],
    ['of another scenario it does not', REGRESSED, { alertname: 'LlmScenarioUndecided', scenario: 'code' }, false],
    [
      'a server that is down under a benchmark inhibits regressions',
      { alertname: 'LlmTargetDown', job: 'llmbench-server', instance: 'a:8000' },
      REGRESSED,
      true,
    ],
    [
      'another server that is down does not',
      { alertname: 'LlmTargetDown', job: 'vllm', instance: 'b:8000' },
      REGRESSED,
      false,
    ],
    [
      'a benchmark inhibits the queue alert of the server that it measures',
      { alertname: 'LlmBenchmarkRunning', instance: 'a:8000' },
      QUEUE,
      true,
    ],
    ['a benchmark of another server does not', { alertname: 'LlmBenchmarkRunning', instance: 'b:8000' }, QUEUE, false],
    [
      'a benchmark does not inhibit errors',
      { alertname: 'LlmBenchmarkRunning', instance: 'a:8000' },
      { alertname: 'LlmErrorShareHigh', instance: 'a:8000' },
      false,
    ],
  ])('%s', async (name, source, target, inhibits) => {
    const server = await startAlertmanager({
      programs,
      configFile: CONFIG,
      dataFolder: join(folder, name.replaceAll(' ', '-')),
    });
    try {
      await post(server, [source, target]);
      expect(await isInhibited(server, target)).toBe(inhibits);
      expect(await isInhibited(server, source)).toBe(false);
    } finally {
      await server.stop();
    }
  });
});

async function post({ url }: RunningServer, alerts: readonly Labels[]): Promise<void> {
  const body = JSON.stringify(alerts.map((labels) => ({ labels })));
  const response = await fetch(`${url}/api/v2/alerts`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  });
  expect(response.status).toBe(200);
}

async function isInhibited({ url }: RunningServer, { alertname = '' }: Labels): Promise<boolean> {
  const response = await fetch(
    `${url}/api/v2/alerts?${new URLSearchParams({ filter: `alertname="${alertname}"` }).toString()}`,
  );
  const alerts = (await response.json()) as { readonly status: { readonly inhibitedBy: readonly string[] } }[];
  expect(alerts).toHaveLength(1);
  return alerts[0]?.status.inhibitedBy.length === 1;
}
