import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { VerdictReport } from '../core/api/comparison.ts';
import type { VerdictEntry } from '../core/api/verdict.ts';
import type { DistributionResult } from '../core/run/result.ts';
import { until } from '../core/testing/until.ts';
import { scenarioPaths } from '../exporter/store/scenarios/scenario-folders.ts';
import { readResultFile } from '../exporter/store/sealed/read-run-files.ts';
import { renderPrometheusConfig } from '../prometheus/config.ts';
import { startPrometheus, type PrometheusServer } from '../prometheus/server.ts';
import { describeWithPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import { meanTtft, recordedServers, type RecordedServer } from './recorded-servers.ts';
import { announced, llmbench, start, type Started } from './llmbench.ts';

const PROMETHEUS = fileURLToPath(new URL('../prometheus/', import.meta.url));
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DAYS = 6;
const SLICE = 5 * MINUTE;

/** Unix time in seconds; the windows end here. */
const END = Math.floor(Date.now() / 1000 / SLICE) * SLICE - SLICE;

const stable: RecordedServer = { instance: 'a:8000', version: 'stable', slower: 1 };
const canary: RecordedServer = { instance: 'b:8000', version: 'canary', slower: 1.2 };
/** An hour of it is slower, the next one is not. */
const rolledBack: RecordedServer = { instance: 'c:8000', version: 'rolled-back', slower: 1.2, slowerUntil: END - HOUR };

await describeWithPrometheus('scenarios on a schedule', (programs) => {
  let folder: string;
  let runsDir: string;
  let prometheus: PrometheusServer;
  let serve: Started;
  let url: string;
  const started: Started[] = [];
  let said = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-scheduled-'));
    runsDir = join(folder, 'runs');
    await mkdir(join(folder, 'data'));
    const from = END - 2 * HOUR - 5 * MINUTE;
    // Each day is a file of its own: blocks of two hours are made of each.
    for (let day = DAYS; day >= 0; day--) {
      const servers = day === 0 ? [stable, canary, rolledBack] : [stable];
      const page = join(folder, `day-${day}.openmetrics`);
      await writeFile(page, recordedServers(servers, from - day * DAY, END - day * DAY));
      const words = ['tsdb', 'create-blocks-from', 'openmetrics', page, join(folder, 'data')];
      await promisify(execFile)(programs.promtool, words);
    }
    await scenarios({ dead: { ...beside('canary'), prometheus: 'http://127.0.0.1:9' } });
    ({ serve, url } = await served());
    serve.child.stderr?.on('data', (text: string) => (said += text));
    prometheus = await startPrometheus({ programs, configFile: await config(), dataFolder: join(folder, 'data') });
  });

  afterAll(async () => {
    await prometheus?.stop();
    for (const { child, ended } of started) {
      child.kill('SIGTERM');
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  });

  const beside = (version: string) => ({
    ...{ match: `job="vllm",version="${version}"`, 'baseline-match': 'job="vllm",version="stable"' },
    ...{ every: '1h', offset: `${END % HOUR}s`, window: '1h', slice: '5m' },
  });
  const scenariosFile = (): string => join(folder, 'scenarios.yml');
  const scenarios = (of: Record<string, unknown>): Promise<void> =>
    writeFile(scenariosFile(), JSON.stringify({ defaults: { delay: '1s' }, scenarios: of }));

  async function served(): Promise<{ readonly serve: Started; readonly url: string }> {
    const options = ['--runs-dir', runsDir, '--port', '0', '--json', '--scenarios-file', scenariosFile()];
    const made = start(['serve', ...options]);
    started.push(made);
    return { serve: made, url: (await announced(made)).url };
  }

  /** The shipped configuration and rules, with more frequent scrapes and evaluations. */
  async function config(): Promise<string> {
    for (const kind of ['rules', 'alerts']) {
      await mkdir(join(folder, kind));
      for (const file of await readdir(join(PROMETHEUS, kind)))
        await copyFile(join(PROMETHEUS, kind, file), join(folder, kind, file));
    }
    const ruleFiles = ['rules/*.yml', 'alerts/*.yml'];
    const text = renderPrometheusConfig({ exporterAddress: new URL(url).host, ruleFiles });
    const path = join(folder, 'prometheus.yml');
    await writeFile(
      path,
      text.replace('evaluation_interval: 5s', 'evaluation_interval: 1s').replaceAll(': 5s', ': 1s'),
    );
    return path;
  }

  const read = async <T>(path: string): Promise<T> => (await (await fetch(`${url}${path}`)).json()) as T;
  const page = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
  const verdicts = async (scenario: string): Promise<readonly VerdictEntry[]> => {
    const text = await readFile(scenarioPaths(runsDir, scenario).verdicts, 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as VerdictEntry);
  };

  test('a Prometheus that does not answer is a metric and a line', async () => {
    await until(async () =>
      (await page()).includes('\nllmbench_scenario_evaluation_failures_total{scenario="dead"} 1\n'),
    );
    expect(said).toMatch(/scenario dead: the window .* could not be judged and is tried again: .*127\.0\.0\.1:9/);
    expect((await fetch(`${url}/-/healthy`)).status).toBe(200);
  });

  test('a canary is judged beside the stable version when its window is due, and an alert fires', async () => {
    // A file of scenarios that is not valid is reported, and the previous one stays in use.
    await writeFile(scenariosFile(), 'scenarios: {prod: {every: 1h}}');
    await until(() => Promise.resolve(said.includes('scenarios.prod.prometheus is missing; the previous')));
    const history = {
      ...{ match: 'job="vllm",version="stable"', days: DAYS },
      ...{ every: '1d', offset: `${END % DAY}s`, window: '1h', prometheus: prometheus.url },
    };
    await scenarios({
      prod: { ...beside('canary'), prometheus: prometheus.url },
      none: { ...beside('none'), prometheus: prometheus.url },
      history,
    });
    const [entry] = await until(async () => {
      const found = await verdicts('prod');
      return found.length > 0 && found;
    });
    expect(entry).toMatchObject({ scenario: 'prod', design: 'pairs', verdict: 'regressed' });
    expect([entry?.run_ids.length, entry?.baseline_run_ids.length]).toEqual([12, 12]);
    const ttft = entry?.measures.find(({ measure }) => measure === 'time_to_first_token');
    expect(Math.abs((ttft?.effect?.estimate ?? 0) - 1.2)).toBeLessThan(0.02);

    const alerts = `${prometheus.url}/api/v1/alerts`;
    await until(async () => {
      const { data } = (await (await fetch(alerts)).json()) as {
        data: { alerts: { labels: Record<string, string>; state: string }[] };
      };
      const names = data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels);
      return names.some((labels) => labels['alertname'] === 'LlmScenarioRegressed' && labels['scenario'] === 'prod');
    });
    expect(said).toMatch(/scenario prod: window .*: a regression is open/);
  });

  test('its slices have exactly what the server counted', async () => {
    const [entry] = await verdicts('prod');
    const results = await Promise.all((entry?.run_ids ?? []).map((id) => readResultFile(join(runsDir, id))));
    const means = results.map(({ measures }) => {
      const of = measures.find(({ measure }) => measure === 'time_to_first_token') as DistributionResult;
      return [of.n, of.mean?.toFixed(9)];
    });
    const truth = Array.from({ length: 12 }, (_, i) => {
      const from = END - HOUR + i * SLICE;
      return [SLICE, (canary.slower * meanTtft(from, from + SLICE)).toFixed(9)];
    });
    expect(means).toEqual(truth);
  });

  test('Compare and Trends show them as other runs', async () => {
    const [entry] = await verdicts('prod');
    const query = [
      ...(entry?.baseline_run_ids ?? []).map((id) => `a=${id}`),
      ...(entry?.run_ids ?? []).map((id) => `b=${id}`),
    ];
    const compared = await read<VerdictReport>(`/api/v1/compare?${query.join('&')}`);
    expect(compared).toMatchObject({ design: 'pairs', verdict: 'regressed' });
    const { runs } = await read<{ runs: { run_id: string }[] }>('/api/v1/scenarios/prod');
    expect(new Set(runs.map(({ run_id }) => run_id))).toEqual(new Set(entry?.run_ids));
  });

  test('a day is judged against the days before, which are its first baseline', async () => {
    const [entry] = await until(async () => {
      const found = await verdicts('history');
      return found.length > 0 && found;
    });
    expect([entry?.verdict, entry?.baseline_run_ids.length, entry?.run_ids.length]).toEqual([
      expect.stringMatching(/^(unchanged|undecided)$/),
      ...[DAYS, 1],
    ]);
    expect(await page()).toContain(`llmbench_scenario_expected_interval_seconds{scenario="history"} ${DAY}\n`);
  });

  test('without a canary nothing is judged', async () => {
    await until(() => Promise.resolve(said.includes('scenario none: nothing to judge\n')));
    expect(await page()).toContain('\nllmbench_scenario_evaluation_failures_total{scenario="none"} 0\n');
  });

  test('a second serve of the same runs judges nothing twice, also when it takes over', async () => {
    const second = await served();
    // It evaluates nothing, since it is not the first, and after that, since the windows are judged.
    serve.child.kill('SIGTERM');
    await serve.ended;
    url = second.url;
    await until(async () =>
      (await readFile(join(runsDir, '.schedule.json'), 'utf8').catch(() => '')).includes(`${second.serve.child.pid}`),
    );
    await until(async () => (await page()).includes('\nllmbench_scenario_evaluations_total{scenario="none"} 1\n'));
    expect(await page()).toContain('\nllmbench_scenario_evaluations_total{scenario="prod"} 0\n');
    expect([(await verdicts('prod')).length, (await verdicts('history')).length]).toEqual([1, 1]);
  });

  test('the same in one command, for a CronJob, until an hour shows that the regression is over', async () => {
    const hour = async (version: string, end: number) => {
      const [from, to] = [end - HOUR, end].map((seconds) => new Date(seconds * 1000).toISOString());
      const { code, stdout } = await llmbench(
        ...['import', '--prometheus', prometheus.url, '--from', from ?? '', '--to', to ?? '', '--slice', '5m'],
        ...['--match', `job="vllm",version="${version}"`, '--baseline-match', 'job="vllm",version="stable"'],
        ...['--scenario', version, '--check', '--runs-dir', join(folder, 'cron'), '--json'],
      );
      return { code, ...(JSON.parse(stdout) as VerdictReport) };
    };
    expect(await hour('canary', END)).toMatchObject({ code: 99, design: 'pairs', verdict: 'regressed' });
    expect(await hour('rolled-back', END - HOUR)).toMatchObject({ code: 99, verdict: 'regressed', state: 'regressed' });
    expect(await hour('rolled-back', END)).toMatchObject({ code: 0, state: 'recovered', open_regression: null });
  });

  test('a file that is not valid ends the start with a line for each scenario', async () => {
    await writeFile(scenariosFile(), 'scenarios:\n  a: {every: 1h}\n  b: {window: 1h}\n');
    const options = ['--runs-dir', join(folder, 'other'), '--port', '0', '--scenarios-file', scenariosFile()];
    const { code, stderr } = await llmbench('serve', ...options);
    expect([code, stderr]).toEqual([
      2,
      `llmbench serve: --scenarios-file: ${scenariosFile()}:2: scenarios.a.prometheus is missing\n` +
        `${scenariosFile()}:3: scenarios.b.prometheus is missing\n`,
    ]);
  });
});
