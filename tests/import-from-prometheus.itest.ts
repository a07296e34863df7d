import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DistributionResult, ScalarResult } from '../core/run/result.ts';
import { readResultFile } from '../exporter/store/sealed/read-run-files.ts';
import { until } from '../core/testing/until.ts';
import { describeWithPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import { startPrometheus, type PrometheusServer } from '../prometheus/server.ts';
import { startSimulator, type RunningSimulator } from '../simulator/main.ts';
import { llmbench } from './llmbench.ts';

const REQUESTS = 20;
const TTFT = 'vllm:time_to_first_token_seconds';

await describeWithPrometheus('a window of what Prometheus recorded', (programs) => {
  let folder: string;
  let prometheus: PrometheusServer;
  const servers: RunningSimulator[] = [];
  let from: string;
  let to: string;
  let before: readonly Totals[];
  let after: readonly Totals[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-recorded-'));
    for (let i = 0; i < 2; i++) servers.push(await startSimulator({ system: 'vllm', host: '127.0.0.1', port: 0 }));
    const targets = servers.map(({ url }) => `'${new URL(url).host}'`).join(', ');
    const configFile = join(folder, 'prometheus.yml');
    await writeFile(
      configFile,
      `global: {scrape_interval: 1s}\nscrape_configs: [{job_name: vllm, static_configs: [{targets: [${targets}], labels: {version: a}}]}]\n`,
    );
    prometheus = await startPrometheus({ programs, configFile, dataFolder: join(folder, 'data') });
    for (const { url } of servers) await complete(url);
    before = await Promise.all(servers.map(totalsOf));
    await recorded(before);
    from = new Date().toISOString();
    await Promise.all(servers.map(({ url }) => Array.from({ length: REQUESTS }, () => complete(url))).flat());
    after = await Promise.all(servers.map(totalsOf));
    await recorded(after);
    to = new Date().toISOString();
  });

  afterAll(async () => {
    await prometheus?.stop();
    await Promise.all(servers.map((server) => server.close()));
    await rm(folder, { recursive: true, force: true });
  });

  /** Waits until Prometheus has scraped these counts of all servers. */
  const recorded = (totals: readonly Totals[]): Promise<unknown> =>
    until(async () => {
      const answered = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(`sum(${TTFT}_count)`)}`);
      const { data } = (await answered.json()) as { data: { result: { value: [number, string] }[] } };
      return Number(data.result[0]?.value[1]) === totals.reduce((sum, { count }) => sum + count, 0);
    });

  const imported = (match: string, ...more: readonly string[]) =>
    llmbench(
      ...['import', '--prometheus', prometheus.url, '--match', match, '--from', from, '--to', to, '--scenario', 'prod'],
      ...['--runs-dir', join(folder, 'runs'), ...more],
    );

  test('is a run with the exact means of all replicas, and the intervals of their percentiles', async () => {
    const { code, stdout } = await imported('job="vllm",version="a"', '--json');
    expect(code).toBe(0);
    const { status, run_id: runId } = JSON.parse(stdout) as { status: string; run_id: string };
    expect(status).toBe('imported');
    const { measures, requests, servers: read, window } = await readResultFile(join(folder, 'runs', runId));
    const ttft = measures.find(({ measure }) => measure === 'time_to_first_token') as DistributionResult;
    const gained = (total: 'count' | 'sum'): number =>
      after.reduce((sum, totals, i) => sum + totals[total] - (before[i]?.[total] ?? NaN), 0);
    expect(ttft.n).toBe(2 * REQUESTS);
    expect(gained('count')).toBe(2 * REQUESTS);
    expect(ttft.mean).toBeCloseTo(gained('sum') / gained('count'), 9);
    const { value, bounds } = ttft.percentiles.p99;
    expect(value).toBeNull();
    expect(bounds?.[0]).toBeLessThan(bounds?.[1] ?? 0);
    const throughput = measures.find(({ measure }) => measure === 'request_throughput') as ScalarResult;
    expect((throughput.value ?? 0) * (window.seconds ?? 0)).toBeCloseTo(2 * REQUESTS, 6);
    // Without a client nothing is known of its requests.
    expect(requests).toEqual({ ok: null, error: null, timeout: null, cancelled: null });
    expect(read?.targets.map(({ system, state }) => [system, state])).toEqual([
      ['vllm', 'up'],
      ['vllm', 'up'],
    ]);
  });

  test('is the same run when it is imported again, and its notes tell how the samples cover the window', async () => {
    const first = await imported('{job="vllm"}');
    expect(first.stdout).toMatch(/scraped every 1\.?\d* s, first sample .* before the window, last .* before its end/);
    const again = await imported('{job="vllm"}');
    expect(again.stdout).toMatch(/^already known/);
  });

  test('in slices is a run of each, of the same times for every server, which together have all requests', async () => {
    const second = (time: string): number => Math.floor(Date.parse(time) / 1000);
    const around = ['--from', String(second(from) - 2), '--to', String(second(to) + 2), '--slice', '2s', '--json'];
    const runsOf = async (server: RunningSimulator | undefined, tag: string): Promise<readonly string[]> => {
      const match = `instance="${new URL(server?.url ?? '').host}"`;
      const { code, stdout, stderr } = await imported(match, ...around, '--tag', tag);
      expect([code, stderr]).toEqual([0, '']);
      return stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { run_id: string }).run_id);
    };
    const [a, b] = [await runsOf(servers[0], 'a'), await runsOf(servers[1], 'b')];
    const results = await Promise.all(a.map((id) => readResultFile(join(folder, 'runs', id))));
    const counts = results.map(({ measures }) =>
      measures.flatMap((each) =>
        each.kind === 'distribution' && each.measure === 'time_to_first_token' ? (each.n ?? 0) : [],
      ),
    );
    expect(counts.flat().reduce((sum, n) => sum + n, 0)).toBe(REQUESTS);
    expect(results.every(({ window }) => Date.parse(window.start ?? '') % 2000 === 0 && window.seconds === 2)).toBe(
      true,
    );
    const startOf = (id: string): string => id.split('-')[0] ?? '';
    expect(a.map(startOf)).toEqual(b.map(startOf));
    // Slices of the same times are pairs, also where it is not requested.
    for (const flags of [['--paired'], []]) {
      const compared = await llmbench(
        ...['compare', 'tag:a', 'tag:b', ...flags, '--json', '--runs-dir', join(folder, 'runs')],
      );
      expect(JSON.parse(compared.stdout)).toMatchObject({ design: 'pairs', verdict: 'undecided' });
    }
    const [first = ''] = a;
    const unequal = await llmbench('compare', first, 'tag:b', '--runs-dir', join(folder, 'runs'));
    expect([unequal.code, unequal.stderr]).toEqual([
      expect.any(Number),
      'llmbench compare: A and B have slices of the same times, which share their load: select the same times in both\n',
    ]);
  });

  test('of the days before is left out where there are no samples', async () => {
    const { code, stdout, stderr } = await imported('{job="vllm"}', '--days', '1', '--json');
    expect([code, stdout.trim().split('\n').length]).toEqual([0, 1]);
    expect(stderr).toMatch(/^\{job="vllm"\} has no samples from .*\n$/);
  });

  test('is judged by the same command, whose standard output is the verdict', async () => {
    const { code, stdout, stderr } = await imported(
      'job="vllm"',
      '--check',
      '--scenario',
      'hourly',
      '--format',
      'json',
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      scenario: 'hourly',
      verdict: 'undecided',
      needs: { design: 'baseline' },
    });
    expect(stderr).toMatch(/^imported /);
  });

  test('what cannot be imported is one line', async () => {
    const nothing = await imported('job="other"');
    expect([nothing.code, nothing.stderr]).toEqual([
      1,
      expect.stringMatching(/^llmbench import: \{job="other"\} has no samples from .*\n$/),
    ]);
    const invalid = await imported('job=');
    expect([invalid.code, invalid.stderr]).toEqual([
      1,
      expect.stringMatching(/HTTP 400: it does not accept the selector \{job=\}: .*parse error: .*\n$/),
    ]);
  });
});

async function complete(url: string): Promise<void> {
  const body = JSON.stringify({ model: 'sim-model', prompt: 'hello', max_tokens: 4, stream: true });
  const headers = { 'content-type': 'application/json' };
  const answered = await fetch(`${url}/v1/completions`, { method: 'POST', headers, body });
  await answered.text();
}

interface Totals {
  readonly count: number;
  readonly sum: number;
}

/** The totals of the histogram as the page has them, once no request is running. */
async function totalsOf({ url }: RunningSimulator): Promise<Totals> {
  const page = await (await fetch(`${url}/metrics`)).text();
  const total = (suffix: string): number => Number(new RegExp(`^${TTFT}_${suffix}\\S* (\\S+)$`, 'm').exec(page)?.[1]);
  return { count: total('count'), sum: total('sum') };
}
