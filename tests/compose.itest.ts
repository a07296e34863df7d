import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { describeWithPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import { startPrometheus, type PrometheusServer } from '../prometheus/server.ts';
import { announced, llmbench, start, type Started } from './llmbench.ts';

interface Service {
  readonly command: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly volumes: readonly string[];
}

const root = fileURLToPath(new URL('..', import.meta.url));
/** With the default of each variable. */
const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8').replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
const { services } = parse(text, { merge: true }) as {
  readonly services: Readonly<Record<'simulator' | 'exporter' | 'benchmark' | 'prometheus' | 'plugin', Service>>;
};

/** The stack's commands as processes of this machine: only hosts, ports and mounted paths are replaced. */
await describeWithPrometheus('the commands of docker-compose.yml', (programs) => {
  const folder = mkdtempSync(join(tmpdir(), 'llmbench-compose-'));
  const runsDir = join(folder, 'runs');
  const started: Started[] = [];
  /** What stands in the file → what it is here. */
  const replaced = new Map([
    ['0.0.0.0', '127.0.0.1'],
    ['/runs', runsDir],
  ]);
  let exporter: URL;
  let prometheus: PrometheusServer;
  let benchmark: Awaited<ReturnType<typeof llmbench>>;

  const here = (text: string): string =>
    [...replaced].reduce((result, [there, now]) => result.replaceAll(there, now), text);

  /** Starts the service on a free port. */
  async function serve(name: 'simulator' | 'exporter'): Promise<URL> {
    const process = start([...services[name].command.map(here), '--json'], {
      env: { LLMBENCH_PORT: '0' },
    });
    started.push(process);
    return new URL((await announced(process)).url);
  }

  beforeAll(async () => {
    replaced.set('18000', '0');
    const simulator = await serve('simulator');
    exporter = await serve('exporter');
    replaced.set('simulator:0', simulator.host).set('exporter:9469', exporter.host);

    const [configFlag = '', dataFlag = '', ...flags] = services.prometheus.command;
    const mounts = new Map(services.prometheus.volumes.map((volume) => volume.split(':') as [string, string]));
    expect(configFlag).toBe(`--config.file=${mounts.get('./deploy/prometheus.yml') ?? 'not mounted'}`);
    expect(dataFlag).toBe(`--storage.tsdb.path=${mounts.get('prometheus') ?? 'not mounted'}`);
    const configFile = join(folder, 'prometheus.yml');
    const rules = (text: string): string =>
      text.replace(/'(rules|alerts)\/\*\.yml'/g, (_, kind: string) => `'${join(root, 'prometheus', kind)}/*.yml'`);
    await writeFile(configFile, rules(here(readFileSync(join(root, 'deploy/prometheus.yml'), 'utf8'))));
    prometheus = await startPrometheus({ programs, configFile, dataFolder: join(folder, 'data'), flags });

    const shorter = (argument: string): string => argument.replace(/^(--benchmark-duration)=.*/, '$1=6');
    benchmark = await llmbench(...services.benchmark.command.map(here).map(shorter));
  });

  afterAll(async () => {
    await prometheus?.stop();
    for (const { child, ended } of started) {
      child.kill('SIGTERM');
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  });

  async function query(expression: string): Promise<readonly { readonly value: readonly [number, string] }[]> {
    const url = `${prometheus.url}/api/v1/query?${new URLSearchParams({ query: expression }).toString()}`;
    return ((await (await fetch(url)).json()) as { data: { result: { value: [number, string] }[] } }).data.result;
  }

  test('the benchmark succeeds and its run is in the volume that the exporter shows', async () => {
    expect({ code: benchmark.code, complaint: benchmark.code === 0 ? '' : benchmark.stderr }).toEqual({
      code: 0,
      complaint: '',
    });
    expect(readdirSync(runsDir).filter((name) => !name.startsWith('.'))).toHaveLength(1);
    expect(await (await fetch(new URL('/metrics', exporter))).text()).toContain('scenario="compose"');
  });

  test('the exporter answers under its host name in the stack', async () => {
    const status = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        get(new URL('/-/healthy', exporter), { headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        }).once('error', reject);
      });
    expect(await status('exporter:9469')).toBe(200);
    expect(await status('elsewhere.example.org')).not.toBe(200);
  });

  test('Prometheus scraped the exporter, and found the run while it ran', async () => {
    expect((await query('max_over_time(up{job="llmbench"}[5m]) == 1')).length).toBe(1);
    const [requests] = await query('max(last_over_time(llmbench_requests_total{outcome="ok"}[5m]))');
    expect(Number(requests?.value[1])).toBeGreaterThan(0);
  });

  test('Prometheus takes older samples by remote write', async () => {
    const sent = await llmbench(
      'backfill',
      'latest',
      '--runs-dir',
      runsDir,
      '--remote-write-url',
      `${prometheus.url}/api/v1/write`,
    );
    expect({ code: sent.code, complaint: sent.code === 0 ? '' : sent.stderr }).toEqual({ code: 0, complaint: '' });
  });

  test('the plugin service replaces what an earlier image left in the volume', async () => {
    const volume = join(folder, 'plugin');
    const built = join(folder, 'built');
    for (const path of [volume, join(built, 'panels')]) await mkdir(path, { recursive: true });
    await writeFile(join(volume, 'stale.js'), '');
    await writeFile(join(built, 'plugin.json'), '{}');
    const [shell = '', ...args] = services.plugin.entrypoint ?? [];
    const there = (text: string): string =>
      text.replaceAll('/opt/llmbench/grafana-plugin', built).replaceAll(/ \/plugin(?= |$)/g, ` ${volume}`);
    execFileSync(shell, args.map(there));
    expect(readdirSync(volume).sort()).toEqual(['panels', 'plugin.json']);
  });
});
