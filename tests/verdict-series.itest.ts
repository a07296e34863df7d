import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { storeJudgedRun } from '../exporter/judge/testing/judged-run.ts';
import { PrometheusReceiver } from '../exporter/publish/testing/prometheus-receiver.ts';
import { openStore } from '../exporter/store/run-store.ts';
import { scenarioPaths } from '../exporter/store/scenarios/scenario-folders.ts';
import { describeWithEachPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import type { PrometheusPrograms } from '../prometheus/programs.mjs';
import { startPrometheus } from '../prometheus/server.ts';
import { announced, llmbench, start } from './llmbench.ts';

const ALERTS = fileURLToPath(new URL('../prometheus/alerts/scenarios.yml', import.meta.url));
const HOUR_MS = 3_600_000;

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

async function temporary(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `llmbench-${name}-`));
  cleanUp.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Twenty runs of a scenario that are its baseline, and four that are 30 % slower. */
async function runsDirectory(): Promise<string> {
  const directory = await temporary('verdict-series');
  const { store } = await openStore(directory);
  for (let i = 0; i < 24; i++) {
    await storeJudgedRun(store, `run-${i}`, i, { ttft: (i < 20 ? 0.1 : 0.13) * (1 + 0.005 * Math.sin(i * 2.3)) });
  }
  await done(directory, 'baseline', 'accept', Array.from({ length: 20 }, (_, i) => `run-${i}`).join(','));
  return directory;
}

async function done(directory: string, ...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await llmbench(...args, '--runs-dir', directory);
  if (code !== 0 && code !== 99) throw new Error(`${args.join(' ')}: ${code} ${stdout}${stderr}`);
}

interface Alert {
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A Prometheus with the alerts on scenarios, evaluated each second. */
async function withAlerts(programs: PrometheusPrograms, scraped: string | null) {
  const folder = await temporary('verdict-alerts');
  const rules = await readFile(ALERTS, 'utf8');
  expect(rules).toContain('keep_firing_for: 15m');
  await writeFile(join(folder, 'alerts.yml'), rules.replaceAll('keep_firing_for: 15m', 'keep_firing_for: 2s'));
  const targets = scraped === null ? [] : [{ targets: [new URL(scraped).host] }];
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: [{ job_name: 'llmbench', static_configs: targets }],
  };
  const configFile = join(folder, 'prometheus.yml');
  await writeFile(configFile, stringify(config));
  const flags = ['--web.enable-remote-write-receiver'];
  const server = await startPrometheus({ programs, configFile, dataFolder: join(folder, 'data'), flags });
  cleanUp.push(() => server.stop());
  return {
    writeUrl: `${server.url}/api/v1/write`,
    /** The firing ones, as soon as there are so many. */
    async alerts(count: number): Promise<readonly Alert[]> {
      for (const end = Date.now() + 120_000; ; await sleep(100)) {
        const response = (await (await fetch(`${server.url}/api/v1/alerts`)).json()) as { data: { alerts: Alert[] } };
        const firing = response.data.alerts.filter(({ state }) => state === 'firing');
        if (firing.length === count)
          return firing.map(({ state, labels, annotations }) => ({ state, labels, annotations }));
        if (Date.now() > end) throw new Error(`not ${count} alerts: ${JSON.stringify(response.data.alerts)}`);
      }
    },
  };
}

const SLOW = 'run-20,run-21,run-22,run-23';

await describeWithEachPrometheus('verdicts in Prometheus', (programs) => {
  test('alerts on written series are those on the scraped page, and end with it', async () => {
    const directory = await runsDirectory();
    const [pushed, once] = [await withAlerts(programs, null), await withAlerts(programs, null)];
    const serve = start([
      ...['serve', '--runs-dir', directory, '--port', '0', '--json'],
      ...['--remote-write-url', pushed.writeUrl, '--remote-write-interval', '1'],
    ]);
    cleanUp.push(async () => {
      serve.child.kill('SIGTERM');
      expect(await serve.ended).toMatchObject({ code: 0, stderr: '' });
    });
    const scraped = await withAlerts(programs, (await announced(serve)).url);

    await done(directory, 'check', SLOW, '--remote-write-url', once.writeUrl);
    const expected = await scraped.alerts(1);
    expect(expected).toMatchObject([
      { labels: { alertname: 'LlmScenarioRegressed', scenario: 'nightly' }, annotations: {} },
    ]);
    expect(expected[0]?.annotations['description']).toMatch(/time to first token p\d0 \+(29|30)\.\d %.* run-23\.$/);
    expect(await pushed.alerts(1)).toEqual(expected);
    expect(await once.alerts(1)).toEqual(expected);

    await done(directory, 'baseline', 'accept', SLOW, '--reason', 'intended', '--remote-write-url', once.writeUrl);
    expect([await scraped.alerts(0), await pushed.alerts(0), await once.alerts(0)]).toEqual([[], [], []]);
  });

  test('a verdict that waits for its receiver is sent by push, with its time', async () => {
    const directory = await runsDirectory();
    const receiver = await PrometheusReceiver.start(programs);
    const { url, writeUrl } = receiver;
    await receiver.stop();
    const before_ms = Date.now();
    const check = await llmbench('check', SLOW, '--runs-dir', directory, '--remote-write-url', writeUrl);
    const after_ms = Date.now();
    expect([check.code, check.stderr]).toEqual([99, expect.stringMatching(/samples of the verdict wait on disk/)]);
    const again = await PrometheusReceiver.start(programs, { port: Number(new URL(url).port) });
    cleanUp.push(() => again.stop());
    await done(directory, 'push', '--remote-write-url', writeUrl);
    const [found] = await again.query('llmbench_scenario_verdict{verdict="regressed"}[1h]');
    const [at = 0, value] = found?.values?.[0] ?? [];
    expect([at * 1000 >= before_ms, at * 1000 <= after_ms, value]).toEqual([true, true, '1']);
  });

  test('the history of verdicts in backfilled blocks: each holds until the next one', async () => {
    const directory = await runsDirectory();
    await done(directory, 'check', 'run-20');
    await done(directory, 'check', SLOW);
    await done(directory, 'baseline', 'accept', SLOW);
    const now_ms = Date.now();
    const paths = scenarioPaths(directory, 'nightly');
    await dateLines(paths.verdicts, [now_ms - 6 * HOUR_MS, now_ms - 5 * HOUR_MS]);
    await dateLines(paths.baseline, [now_ms - 7 * HOUR_MS, now_ms - 3 * HOUR_MS]);
    const pages = await temporary('verdict-pages');
    await done(directory, 'backfill', '--all', '--output', `${pages}/`);
    const blocks = await temporary('verdict-blocks');
    for (const file of (await readdir(pages)).filter((name) => name >= '2026060')) {
      await promisify(execFile)(programs.promtool, [
        ...['tsdb', 'create-blocks-from', 'openmetrics', join(pages, file), blocks],
      ]);
    }
    const prometheus = await PrometheusReceiver.start(programs, { dataFolder: blocks });
    cleanUp.push(() => prometheus.stop());
    const regressed = await expressionOf('LlmScenarioRegressed');
    const firingAt = async (hoursAgo: number): Promise<readonly string[]> =>
      (await prometheus.query(regressed, now_ms - hoursAgo * HOUR_MS)).map(({ metric }) => metric['scenario'] ?? '');
    // Suspected, confirmed, and not cleared before the slower runs are accepted.
    const minute = 1 / 60;
    for (const hoursAgo of [6.5, 6 - minute, 5 + minute]) expect(await firingAt(hoursAgo)).toEqual([]);
    for (let hoursAgo = 5 - minute; hoursAgo > 3 + minute; hoursAgo -= 3.7 * minute) {
      expect(await firingAt(hoursAgo)).toEqual(['nightly']);
    }
    for (const hoursAgo of [3 - minute, 1, 2 * minute]) expect(await firingAt(hoursAgo)).toEqual([]);
    const verdictAt = async (hoursAgo: number): Promise<readonly (string | undefined)[]> => {
      const found = await prometheus.query('llmbench_scenario_verdict == 1', now_ms - hoursAgo * HOUR_MS);
      return found.map(({ metric }) => metric['verdict']);
    };
    expect([await verdictAt(6.5), await verdictAt(5.5), await verdictAt(4), await verdictAt(0.1)]).toEqual([
      ...[[], ['suspect'], ['regressed'], ['regressed']],
    ]);
  });
});

/** Gives the lines of a log these times. */
async function dateLines(path: string, times_ms: readonly number[]): Promise<void> {
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect(lines).toHaveLength(times_ms.length);
  const dated = lines.map((line, i) => ({
    ...(JSON.parse(line) as object),
    at: new Date(times_ms[i] ?? NaN).toISOString(),
  }));
  await writeFile(path, dated.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

async function expressionOf(alert: string): Promise<string> {
  const { groups } = parse(await readFile(ALERTS, 'utf8')) as {
    groups: { rules: { alert?: string; expr: string }[] }[];
  };
  const found = groups.flatMap(({ rules }) => rules).find((rule) => rule.alert === alert);
  if (found === undefined) throw new Error(`${alert} does not exist`);
  return found.expr;
}
