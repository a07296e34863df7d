/**
 * Shows `llmbench serve --scenarios-file` with real programs: four Dynamo frontends with the mock engine under the load of a day in
 * four minutes, a Prometheus that scrapes them, and scenarios that judge three of them beside the first: one as fast, one 10 %
 * and one 20 % slower. Each slice has to have what the server's log says, and the slower two have to be alerts.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { VerdictEntry } from '../../core/api/verdict.ts';
import type { DistributionResult, ResultFile } from '../../core/run/result.ts';
import { until } from '../../core/testing/until.ts';
import { ensurePrometheus } from '../../prometheus/programs.mjs';
import { startPrometheus } from '../../prometheus/server.ts';
import { readScriptOptions } from '../script-options.ts';
import { dynamo } from './dynamo/dynamo.ts';
import { freePort, installFolder } from './processes.ts';
import type { RunningServer } from './real-server.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const USAGE = `usage: node scripts/real-servers/schedule.ts [--folder DIR]

Installs Dynamo on its first use and shows scenarios on a schedule. Takes about 9 minutes.

  --folder DIR    install into DIR/dynamo (default .cache/real-servers/dynamo)
`;

/** A tenth of the engine's speed, so that what a busy machine adds is small. */
const SPEED = 0.1;
const SLOWER = { stable: 1, same: 1, 'slower-10': 1.1, 'slower-20': 1.2 } as const;
type Version = keyof typeof SLOWER;
const JUDGED = ['same', 'slower-10', 'slower-20'] as const;
const WINDOW_SECONDS = 240;
const SLICE_SECONDS = 20;
/** The request that `run` sends first is cancelled, of which the log has no first token: it has to be before the window. */
const BEFORE_SECONDS = 45;
/** Night, morning, noon, evening. */
const DAY = 'rate=0.6:45s,rate=0.6..1.2:60s,rate=1.2..2.2:60s,rate=2.2..1.4:60s,rate=1.4..0.6:65s';
const EVALUATION_SECONDS = 240;

const { folder } = readScriptOptions({ usage: USAGE, options: { folder: { type: 'string' } } }, (values) => values);
const temporary = mkdtempSync(join(tmpdir(), 'llmbench-schedule-'));
const stops: (() => unknown)[] = [];
try {
  await show();
} catch (error) {
  process.exitCode = 1;
  process.stdout.write(`FAILED: ${(error as Error).message}\n`);
} finally {
  for (const stop of stops.reverse()) await stop();
  rmSync(temporary, { recursive: true, force: true });
}

async function show(): Promise<void> {
  const installed = installFolder(dynamo.name, folder);
  await dynamo.install(installed);
  const programs = await ensurePrometheus({ install: false });
  if (programs === null) throw new Error('Prometheus is missing: node prometheus/programs.mjs');
  const servers = new Map<Version, RunningServer>();
  for (const [version, slower] of Object.entries(SLOWER) as [Version, number][]) {
    const args = ['--speedup-ratio', String(SPEED / slower)];
    const server = await dynamo.start({ folder: ownFolder(installed, version), port: await freePort(), args });
    stops.push(() => server.stop());
    servers.set(version, server);
  }
  const [prometheusPort, servePort] = [await freePort(), await freePort()];
  const configFile = prometheusConfig(servers, servePort);
  const prometheus = await startPrometheus({
    ...{ programs, configFile, dataFolder: join(temporary, 'data'), port: prometheusPort },
  });
  stops.push(() => prometheus.stop());
  const begin = Math.ceil((Date.now() / 1000 + BEFORE_SECONDS + 5) / WINDOW_SECONDS) * WINDOW_SECONDS;
  process.stdout.write(`servers run; the window begins ${new Date(begin * 1000).toISOString()}\n`);
  await sleep((begin - BEFORE_SECONDS) * 1000 - Date.now());
  const loads = [...servers].map(([version, { url, model }]) => {
    const load = ['--isl', '500', '--isl-stddev', '100', '--osl', '30', '--random-seed', '7', '--stages', DAY];
    const where = [
      '--runs-dir',
      join(temporary, 'client'),
      '--scenario',
      version,
      '--no-server-metrics',
      '--linger',
      'no',
    ];
    return llmbench('run', '--url', url, '--model', model, ...dynamo.runArgs, ...load, ...where);
  });
  // Only windows of the load are judged.
  await sleep((begin + 1) * 1000 - Date.now());
  llmbench(
    'serve',
    '--runs-dir',
    runs(),
    '--port',
    String(servePort),
    '--scenarios-file',
    scenariosFile(prometheus.url),
  );
  await Promise.all(loads.map((load) => new Promise((resolve) => load.once('close', resolve))));
  const verdicts = await until(() => lastVerdicts(begin), EVALUATION_SECONDS, 1000);
  const faults: string[] = [];
  for (const version of JUDGED) {
    const { verdict, measures } = verdicts.get(version) ?? {};
    const ttft = measures?.find(({ measure }) => measure === 'time_to_first_token')?.effect;
    const percent = (ratio: number | undefined): string => `${(100 * ((ratio ?? NaN) - 1)).toFixed(1)} %`;
    process.stdout.write(
      `${version.padEnd(10)} ${verdict}, time to first token ${percent(ttft?.estimate)} (${percent(ttft?.low)} to ${percent(ttft?.high)})\n`,
    );
    if ((verdict === 'regressed') !== version.startsWith('slower')) faults.push(`${version} is ${verdict}`);
  }
  faults.push(...(await differencesFromLogs(verdicts, prometheus.url)));
  const regressed = await until(() => alerts(prometheus.url), EVALUATION_SECONDS, 1000);
  process.stdout.write(`alerts     LlmScenarioRegressed of ${regressed.join(', ')}\n`);
  if (regressed.join() !== 'slower-10,slower-20') faults.push(`alerts of ${regressed.join(', ')}`);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  process.stdout.write('passed\n');
}

function runs(): string {
  return join(temporary, 'runs');
}

/** Each server has its own logs. */
function ownFolder(installed: string, version: Version): string {
  const own = join(temporary, version);
  mkdirSync(own);
  for (const name of ['venv', 'model', 'loopback-bind.so']) symlinkSync(join(installed, name), join(own, name));
  return own;
}

function prometheusConfig(servers: ReadonlyMap<Version, RunningServer>, servePort: number): string {
  for (const kind of ['rules', 'alerts'])
    cpSync(join(ROOT, 'prometheus', kind), join(temporary, kind), { recursive: true });
  const targets = [...servers].map(([version, { url }]) => ({ targets: [new URL(url).host], labels: { version } }));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '2s' },
    rule_files: ['rules/*.yml', 'alerts/*.yml'],
    scrape_configs: [
      { job_name: 'dynamo', static_configs: targets },
      { job_name: 'llmbench', static_configs: [{ targets: [`127.0.0.1:${servePort}`] }] },
    ],
  };
  const path = join(temporary, 'prometheus.yml');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

function scenariosFile(prometheus: string): string {
  const times = { window: `${WINDOW_SECONDS}s`, every: `${WINDOW_SECONDS}s`, slice: `${SLICE_SECONDS}s`, delay: '3s' };
  const scenarios = JUDGED.map((version) => [version, { match: `job="dynamo",version="${version}"` }]);
  const defaults = { ...times, prometheus, 'baseline-match': 'job="dynamo",version="stable"' };
  const path = join(temporary, 'scenarios.yml');
  writeFileSync(path, JSON.stringify({ defaults, scenarios: Object.fromEntries(scenarios) as object }));
  return path;
}

function llmbench(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [join(ROOT, 'bin/llmbench.js'), ...args], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  stops.push(() => child.kill('SIGTERM') && ended);
  return child;
}

/** The verdict on the window that began then, by version; false while one is missing. */
function lastVerdicts(begin: number): ReadonlyMap<Version, VerdictEntry> | false {
  const found = JUDGED.flatMap((version): (readonly [Version, VerdictEntry])[] => {
    const path = join(runs(), 'scenarios', version, 'verdicts.jsonl');
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as VerdictEntry);
    const own = entries.find(({ first_start }) => Date.parse(first_start ?? '') === begin * 1000);
    return own === undefined ? [] : [[version, own]];
  });
  return found.length === JUDGED.length && new Map(found);
}

/** The scenarios whose alert fires, once there are two. */
async function alerts(prometheus: string): Promise<readonly string[] | false> {
  const answered = await fetch(`${prometheus}/api/v1/alerts`);
  const { data } = (await answered.json()) as { data: { alerts: { labels: Record<string, string>; state: string }[] } };
  const firing = data.alerts.filter(
    ({ labels, state }) => labels['alertname'] === 'LlmScenarioRegressed' && state === 'firing',
  );
  return firing.length >= 2 && firing.map(({ labels }) => labels['scenario'] ?? '').sort();
}

/** Where the count or the mean of a slice is not that of the server's log between the scrapes at its edges. */
async function differencesFromLogs(
  verdicts: ReadonlyMap<Version, VerdictEntry>,
  prometheus: string,
): Promise<string[]> {
  const faults: string[] = [];
  let [slices, requests] = [0, 0];
  const sets = [...verdicts].flatMap(([version, { run_ids, baseline_run_ids }]) => [
    { version, ids: run_ids },
    ...(version === 'same' ? [{ version: 'stable' as const, ids: baseline_run_ids }] : []),
  ]);
  for (const { version, ids } of sets) {
    const logged = firstTokens(version);
    for (const id of ids) {
      const { measures, window } = JSON.parse(readFileSync(join(runs(), id, 'result.json'), 'utf8')) as ResultFile;
      const ttft = measures.find(({ measure }) => measure === 'time_to_first_token') as DistributionResult | undefined;
      const start = Date.parse(window.start ?? '') / 1000;
      const [from, to] = [
        await lastScrape(prometheus, version, start),
        await lastScrape(prometheus, version, start + SLICE_SECONDS),
      ];
      const own = logged.filter(({ at }) => at > from && at <= to);
      const mean = own.reduce((sum, { seconds }) => sum + seconds, 0) / own.length;
      slices += 1;
      requests += own.length;
      // The log has hundredths of a millisecond.
      if (ttft?.n !== own.length || !(Math.abs((ttft.mean ?? NaN) - mean) < 1e-5))
        faults.push(
          `${version} ${id}: ${ttft?.n} requests of mean ${ttft?.mean}, the log has ${own.length} of ${mean}`,
        );
    }
  }
  process.stdout.write(
    `truth      ${slices - faults.length} of ${slices} slices have the ${requests} requests of the logs, and their means\n`,
  );
  return faults;
}

/** Unix times in seconds. */
async function lastScrape(prometheus: string, version: Version, at: number): Promise<number> {
  const query = encodeURIComponent(`timestamp(up{version="${version}"})`);
  const { data } = (await (await fetch(`${prometheus}/api/v1/query?query=${query}&time=${at}`)).json()) as {
    data: { result: { value: [number, string] }[] };
  };
  return Number(data.result[0]?.value[1]);
}

/** When the first tokens of the requests that ended came, and how long they took; Unix times and seconds. */
function firstTokens(version: Version): readonly { readonly at: number; readonly seconds: number }[] {
  const own = join(temporary, version);
  const logs = readdirSync(own).filter((name) => name.startsWith('frontend'));
  const lines = logs.flatMap((name) => readFileSync(join(own, name), 'utf8').split('\n'));
  return lines.flatMap((colored) => {
    // eslint-disable-next-line no-control-regex -- the log is colored
    const line = colored.replaceAll(/\u001b\[[0-9;]*m/g, '');
    const [, time = '', elapsed, ttft] =
      /^(\S+) .*: request completed .*status=success elapsed_ms=(\d+) .*ttft_ms="([\d.]+)"/.exec(line) ?? [];
    if (ttft === undefined) return [];
    const seconds = Number(ttft) / 1000;
    return [{ at: Date.parse(time) / 1000 - Number(elapsed) / 1000 + seconds, seconds }];
  });
}
