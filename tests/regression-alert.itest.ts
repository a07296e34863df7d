import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import type { ResultFile } from '../core/run/result.ts';
import { storeJudgedRun } from '../exporter/judge/testing/judged-run.ts';
import { openStore } from '../exporter/store/run-store.ts';
import { renderPrometheusConfig } from '../prometheus/config.ts';
import { describeWithAlertmanager } from '../prometheus/testing/describe-prometheus.ts';
import { startAlertmanager, startPrometheus, type RunningServer } from '../prometheus/server.ts';
import { announced, llmbench, start, type Ended, type Started } from './llmbench.ts';

/** How long to wait for a notification at most. */
const WAIT_MS = 120_000;
const PROMETHEUS = fileURLToPath(new URL('../prometheus/', import.meta.url));
const GATE = ['--gate', 'time_to_first_token:p50'];
/** On a busy machine the runs of one server differ by far less than a server that is three times as slow. */
const NORMAL = 'slowdown:factor=4';
const SLOW = 'slowdown:factor=12';
/** With one output token there is no inter-token latency to judge the client by: a busy machine does not disturb the runs. */
const LOAD = ['--concurrency', '4', '--request-count', '20', '--isl', '32', '--osl', '1', '--linger', 'no'];

interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Notified extends Alert {
  readonly status: 'firing' | 'resolved';
}

/** From the simulated server to the webhook: every program is the real one. */
await describeWithAlertmanager('a regression', (programs) => {
  let folder: string;
  let runsDir: string;
  let webhook: Server;
  let alertmanager: RunningServer;
  let prometheus: RunningServer;
  const started: Started[] = [];
  const notified: Notified[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-alert-'));
    runsDir = join(folder, 'runs');
    await mkdir(runsDir);
    webhook = createServer((request, response) => {
      let body = '';
      request.on('data', (piece: Buffer) => (body += piece.toString()));
      request.on('end', () => {
        notified.push(...(JSON.parse(body) as { alerts: Notified[] }).alerts);
        response.end();
      });
    });
    await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
    const { port } = webhook.address() as AddressInfo;
    const serve = await ready<{ url: string }>(['serve', '--runs-dir', runsDir, '--port', '0', '--json']);
    alertmanager = await startAlertmanager({
      programs,
      configFile: await alertmanagerConfig(`http://127.0.0.1:${port}/`),
      dataFolder: join(folder, 'alertmanager'),
    });
    prometheus = await startPrometheus({
      programs,
      configFile: await prometheusConfig(new URL(serve.url).host, new URL(alertmanager.url).host),
      dataFolder: join(folder, 'prometheus'),
    });
  });

  afterAll(async () => {
    await prometheus?.stop();
    await alertmanager?.stop();
    webhook?.close();
    for (const { child, ended } of started) {
      child.kill('SIGTERM');
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  });

  /** The example, without its waiting times. */
  async function alertmanagerConfig(url: string): Promise<string> {
    const config = parse(await readFile(join(PROMETHEUS, 'alertmanager.yml'), 'utf8')) as {
      route: Record<string, unknown>;
      receivers: { name: string; webhook_configs?: unknown[] }[];
    };
    Object.assign(config.route, { group_wait: '1s', group_interval: '1s' });
    for (const receiver of config.receivers) if (receiver.name === 'notify') receiver.webhook_configs = [{ url }];
    const path = join(folder, 'alertmanager.yml');
    await writeFile(path, stringify(config));
    return path;
  }

  /** The shipped configuration and rules; only scrapes and evaluations are more frequent, and alerts end sooner. */
  async function prometheusConfig(exporterAddress: string, alertmanagerAddress: string): Promise<string> {
    for (const kind of ['rules', 'alerts']) {
      await mkdir(join(folder, kind));
      for (const file of await readdir(join(PROMETHEUS, kind))) {
        await copyFile(join(PROMETHEUS, kind, file), join(folder, kind, file));
      }
    }
    const scenarios = join(folder, 'alerts/scenarios.yml');
    const rules = await readFile(scenarios, 'utf8');
    expect(rules).toContain('keep_firing_for: 15m');
    await writeFile(scenarios, rules.replaceAll('keep_firing_for: 15m', 'keep_firing_for: 2s'));
    const ruleFiles = ['rules/*.yml', 'alerts/*.yml'];
    const config = renderPrometheusConfig({ exporterAddress, alertmanagerAddress, ruleFiles });
    const path = join(folder, 'prometheus.yml');
    await writeFile(
      path,
      config.replace('evaluation_interval: 5s', 'evaluation_interval: 1s').replaceAll(': 5s', ': 1s'),
    );
    return path;
  }

  async function ready<T>(args: readonly string[]): Promise<T> {
    const process = start(args);
    started.push(process);
    return announced<T>(process);
  }

  const simulator = (fault: string): Promise<{ url: string }> =>
    ready(['simulate', '--port', '0', '--fault', fault, '--json']);
  const runOptions = (url: string): readonly string[] => [
    ...['--url', url, '--model', 'sim-model', ...LOAD, '--no-server-metrics'],
  ];

  async function done(...args: readonly string[]): Promise<Ended> {
    const ended = await llmbench(...args, '--runs-dir', runsDir);
    if (ended.code !== 0) throw new Error(`${args.join(' ')}: ${ended.code} ${ended.stdout}${ended.stderr}`);
    return ended;
  }

  async function measured(url: string): Promise<string> {
    const { stdout } = await done('run', ...runOptions(url), '--scenario', 'nightly', '--json');
    return (JSON.parse(stdout) as ResultFile).run_id;
  }

  /** Notifications about a scenario. */
  const about = (scenario: string): readonly Notified[] =>
    notified.filter(({ labels }) => labels['scenario'] === scenario);

  async function until(status: Notified['status'], scenario = 'nightly'): Promise<Notified> {
    for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(100)) {
      const found = about(scenario).find((each) => each.status === status);
      if (found !== undefined) return found;
    }
    throw new Error(`no notification is ${status}: ${JSON.stringify(notified)}`);
  }

  async function query(expression: string): Promise<readonly { readonly value: readonly [number, string] }[]> {
    const url = `${prometheus.url}/api/v1/query?${new URLSearchParams({ query: expression }).toString()}`;
    const answer = (await (await fetch(url)).json()) as { data: { result: { value: [number, string] }[] } };
    return answer.data.result;
  }

  async function untilScraped(expression: string): Promise<void> {
    for (const end = Date.now() + WAIT_MS; (await query(expression)).length === 0; await sleep(100)) {
      if (Date.now() > end) throw new Error(`nothing is scraped that fits ${expression}`);
    }
  }

  /** What the firing alert says of the scenario, as soon as it names this run. */
  async function described(scenario: string, run: string): Promise<string> {
    for (const end = Date.now() + WAIT_MS; ; await sleep(100)) {
      const answer = (await (await fetch(`${prometheus.url}/api/v1/alerts`)).json()) as { data: { alerts: Alert[] } };
      const own = answer.data.alerts.find(({ labels }) => labels['scenario'] === scenario);
      const text = own?.annotations['description'] ?? '';
      if (text.includes(run)) return text;
      if (Date.now() > end) throw new Error(`no alert names ${run}: ${JSON.stringify(answer.data.alerts)}`);
    }
  }

  test('that is confirmed notifies once, with its runs, and a new baseline resolves it', async () => {
    const normal = await simulator(NORMAL);
    for (let i = 0; i < 6; i++) await measured(normal.url);
    await done('baseline', 'accept', 'scenario:nightly');
    const slow = await simulator(SLOW);
    const first = await measured(slow.url);
    const check = ['check', first, ...GATE, '--confirm', '8', '--json', '--runs-dir', runsDir];
    const { code, stdout, stderr } = await llmbench(...check, '--', ...runOptions(slow.url));
    expect([code, stdout + stderr]).toEqual([99, expect.stringContaining('regressed')]);

    const firing = await until('firing');
    expect(firing.labels).toMatchObject({ alertname: 'LlmScenarioRegressed', severity: 'critical' });
    const listed = (await llmbench('runs', 'list', '--json', '--runs-dir', runsDir)).stdout;
    const { description = '' } = firing.annotations;
    expect(description).toMatch(/Largest change: time to first token p50 \+\d+\.\d %\./);
    const named = /Runs: (.*)\.$/.exec(description)?.[1]?.split(', ') ?? [];
    expect(named).toContain(first);
    // One run alone is at most suspect.
    expect(named.length).toBeGreaterThanOrEqual(2);
    for (const id of named) expect(listed).toContain(id);

    // Several evaluations and group intervals later it has still been sent once.
    await sleep(4_000);
    expect(about('nightly')).toHaveLength(1);
    await done('baseline', 'accept', named.join(','), '--reason', 'the slower server is intended');
    await until('resolved');
    expect(about('nightly').map(({ status }) => status)).toEqual(['firing', 'resolved']);
  });

  test('over a bad week notifies once, with what is known, and resolves once when later nights show that it is over', async () => {
    const { store } = await openStore(runsDir);
    let day = 0;
    const scenario = 'week';
    const stored = async (slower: number, client: 'ok' | 'saturated' = 'ok'): Promise<string> => {
      const id = `week-${String(day).padStart(2, '0')}`;
      await storeJudgedRun(store, id, day, { ttft: 0.1 * slower * (1 + 0.01 * Math.sin(day * 2.3)), scenario, client });
      day++;
      return id;
    };
    /** One night: the run, its check, and the scrape that sees the verdict. */
    const night = async (...run: Parameters<typeof stored>): Promise<number | null> => {
      const id = await stored(...run);
      const before = Date.now() / 1000;
      const { code } = await llmbench('check', id, ...GATE, '--runs-dir', runsDir);
      await untilScraped(`llmbench_scenario_last_judged_timestamp_seconds{scenario="${scenario}"} >= ${before}`);
      return code;
    };
    const accepted: string[] = [];
    for (let i = 0; i < 20; i++) accepted.push(await stored(1));
    await done('baseline', 'accept', accepted.join(','));

    // A night at the usual level, a single slow one, and another usual one.
    expect([await night(1), await night(1.4), await night(1)]).toEqual([0, 0, 0]);
    const slow = day;
    while ((await night(1.3)) === 0) expect(day - slow).toBeLessThan(8);
    await until('firing', scenario);
    // It stays red: also in the night whose client was saturated, which decides nothing.
    expect([await night(1.3), await night(1, 'saturated'), await night(1.3)]).toEqual([99, 99, 99]);
    const named = Array.from({ length: day - slow }, (_, i) => `week-${slow + i}`);
    await untilScraped(`llmbench_scenario_judged_run_info{scenario="${scenario}",run_id="${named.at(-1) ?? ''}"}`);
    const description = await described(scenario, named.at(-1) ?? '');
    expect(description).toMatch(
      /It began 2026-01-2\d 00:00:00 \+0000 UTC\. Largest change: time to first token p50 \+\d+\.\d %\./,
    );
    for (const id of named) expect(description).toContain(id);
    const { stdout } = await done('regression', 'show', scenario, '--json');
    const { open_regression: open } = JSON.parse(stdout) as { open_regression: { run_ids: readonly string[] } };
    expect(description).toMatch(new RegExp(` Runs: ${open.run_ids.join(', ')}\\.$`));

    while ((await night(1)) === 99) expect(day).toBeLessThan(60);
    await until('resolved', scenario);
    expect([await night(1), await night(1)]).toEqual([0, 0]);
    const sent = notified.filter(({ labels }) => labels['scenario'] === scenario);
    expect(sent.map(({ status, labels }) => [status, labels['alertname']])).toEqual([
      ['firing', 'LlmScenarioRegressed'],
      ['resolved', 'LlmScenarioRegressed'],
    ]);
    expect(sent[0]?.annotations['description']).toMatch(
      /Largest change: time to first token p50 \+\d+\.\d %\. Runs: .*week-\d+\.$/,
    );
  });

  test('that a saturated client measured sends no notification', async () => {
    const { store } = await openStore(runsDir);
    const ids = Array.from({ length: 12 }, (_, i) => `saturated-${String(i).padStart(2, '0')}`);
    for (const [i, id] of ids.entries()) {
      const slow = i >= 6;
      const what = { ttft: slow ? 0.3 : 0.1 + i / 1e4, client: slow ? 'saturated' : 'ok' } as const;
      await storeJudgedRun(store, id, i, { ...what, scenario: 'saturated' });
    }
    await done('baseline', 'accept', ids.slice(0, 6).join(','));
    const checked = await done('check', ids.slice(6).join(','), ...GATE);
    // Those before the newest are no evidence, and left out.
    expect(checked.stdout).toMatch(/verdict +undecided/);
    expect(checked.stdout).toContain('The client itself was saturated in 1 run.');
    await untilScraped('llmbench_scenario_verdict{scenario="saturated",verdict="undecided"} == 1');
    await sleep(4_000);
    expect(about('saturated')).toEqual([]);
  });
});
