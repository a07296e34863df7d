import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { quantileBounds } from '../core/histogram/bounds.ts';
import type { RecordedLoad, TokenCounts } from '../core/run/load.ts';
import type { ResultFile } from '../core/run/result.ts';
import { percentile } from '../core/stats/percentiles.ts';
import { until } from '../core/testing/until.ts';
import { describeWithPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import { startPrometheus, type PrometheusServer } from '../prometheus/server.ts';
import { startSimulator, type RunningSimulator } from '../simulator/main.ts';
import { llmbench } from './llmbench.ts';

const REQUESTS = 240;
/** Half slow, half fast: the rate over time is not constant. */
const LOAD = [
  ...['--stages', 'rate=4:20s,rate=16:10s', '--arrival-pattern', 'constant'],
  ...[
    '--isl',
    '300',
    '--isl-stddev',
    '120',
    '--osl',
    '24',
    '--osl-stddev',
    '8',
    '--shared-system-prompt-length',
    '256',
  ],
];

interface Row {
  readonly timestamp: number;
  readonly input_length: number;
  readonly output_length: number;
}

await describeWithPrometheus('a plan of a recorded load', (programs) => {
  let folder: string;
  let prometheus: PrometheusServer;
  let server: RunningSimulator;
  let window: string;
  let original: ResultFile;
  let header: { readonly source: RecordedLoad };
  let rows: readonly Row[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-plan-'));
    server = await startSimulator({ system: 'vllm', host: '127.0.0.1', port: 0 });
    const configFile = join(folder, 'prometheus.yml');
    await writeFile(
      configFile,
      `global: {scrape_interval: 1s}\nscrape_configs: [{job_name: vllm, static_configs: [{targets: ['${new URL(server.url).host}']}]}]\n`,
    );
    prometheus = await startPrometheus({ programs, configFile, dataFolder: join(folder, 'data') });
    await finished(0);
    original = await measured(LOAD);
    await finished(REQUESTS);
    // Of the load without the last responses, which no request follows.
    const start = Date.parse(original.window.start ?? '');
    window = `${new Date(start).toISOString()}/${new Date(start + 30_000).toISOString()}`;
    const { code, stderr } = await plan('plan.jsonl');
    expect([code, stderr]).toEqual([0, '']);
    const [first = '', ...lines] = (await readFile(join(folder, 'plan.jsonl'), 'utf8')).trim().split('\n');
    header = JSON.parse(first) as typeof header;
    rows = lines.map((line) => JSON.parse(line) as Row);
  });

  afterAll(async () => {
    await prometheus?.stop();
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Waits until Prometheus has scraped that so many requests ended. */
  const finished = (count: number): Promise<unknown> =>
    until(async () => {
      const query = encodeURIComponent('sum(vllm:request_success_total) or 0 * sum(up == 1)');
      const answered = await fetch(`${prometheus.url}/api/v1/query?query=${query}`);
      const { data } = (await answered.json()) as { data: { result: { value: [number, string] }[] } };
      return Number(data.result[0]?.value[1] ?? -1) >= count;
    });

  const measured = async (options: readonly string[]): Promise<ResultFile> => {
    const { code, stdout, stderr } = await llmbench(
      ...['run', '--url', server.url, '--model', 'sim-model', '--runs-dir', join(folder, 'runs'), '--json'],
      ...['--ignore-eos', '--no-server-metrics', ...options],
    );
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as ResultFile;
  };

  const plan = (output: string, ...more: readonly string[]) =>
    llmbench(
      ...['plan', '--load-from-prometheus', prometheus.url, '--match', 'job="vllm"', '--window', window],
      ...['--output', join(folder, output), ...more],
    );

  test('has the requests of the servers, at their rate over time', () => {
    const { requests, slot_seconds } = header.source;
    expect(slot_seconds).toBeGreaterThanOrEqual(4);
    expect(requests.length * slot_seconds).toBeCloseTo(30, 3);
    expect(Math.abs(rows.length - requests.reduce((sum, n) => sum + n, 0))).toBeLessThanOrEqual(1);
    const before = (seconds: number): number => rows.filter(({ timestamp }) => timestamp < seconds * 1000).length;
    for (const [i] of requests.entries()) {
      const recorded = requests.slice(0, i + 1).reduce((sum, n) => sum + n, 0);
      expect(Math.abs(before((i + 1) * slot_seconds) - recorded)).toBeLessThanOrEqual(1);
    }
  });

  test('has lengths whose mean is that of the servers, and whose percentiles are in the same buckets', () => {
    const check = (values: readonly number[], { bounds, counts, mean }: TokenCounts): void => {
      const ascending = Float64Array.from(values).sort();
      let sum = 0;
      const histogram = { bounds: [...bounds, Infinity], counts: counts.map((count) => (sum += count)), sum: null };
      for (const q of [0.1, 0.5, 0.9, 0.99]) {
        const place = quantileBounds(q, histogram);
        const value = percentile(ascending, q);
        // The percentile of either may be the neighbor of the other at an edge.
        expect(value).toBeGreaterThanOrEqual((place?.low ?? NaN) - 1);
        expect(value).toBeLessThanOrEqual((place?.high ?? NaN) + 1);
      }
      const ownMean = values.reduce((total, value) => total + value, 0) / values.length;
      expect(Math.abs(ownMean / mean - 1)).toBeLessThan(0.02);
    };
    const { input_tokens, output_tokens } = header.source;
    check(
      rows.map(({ input_length }) => input_length),
      input_tokens,
    );
    check(
      rows.map(({ output_length }) => output_length),
      output_tokens as TokenCounts,
    );
  });

  test('is the same for the same window and seed, and thinner when compressed', async () => {
    await plan('again.jsonl');
    expect(await readFile(join(folder, 'again.jsonl'), 'utf8')).toBe(
      await readFile(join(folder, 'plan.jsonl'), 'utf8'),
    );
    const { stdout } = await plan('short.jsonl', '--compress', '3', '--scale', '2');
    const [, ...short] = (await readFile(join(folder, 'short.jsonl'), 'utf8')).trim().split('\n');
    expect(short).toHaveLength(Math.round((rows.length * 2) / 3));
    expect((JSON.parse(short.at(-1) ?? '') as Row).timestamp).toBeLessThan(10_000);
    expect(stdout).toMatch(/short\.jsonl: \d+ requests in 10 s/);
  });

  test('a run of it has the load of the servers, and states how well', async () => {
    const result = await measured(['--input-file', join(folder, 'plan.jsonl')]);
    await finished(REQUESTS + rows.length);
    const fit = new Map((result.load_fit ?? []).map((each) => [each.quantity, each]));
    const rate = fit.get('request_rate');
    expect(Math.abs((rate?.achieved ?? 0) / (rate?.source ?? NaN) - 1)).toBeLessThan(0.02);
    expect(rate?.distance).toBeLessThan(0.05);
    for (const name of ['input_tokens', 'output_tokens'] as const) {
      expect(fit.get(name)?.distance).toBeLessThan(0.05);
      expect(fit.get(name)?.source).toBe(header.source[name]?.mean);
    }
    const possible = result.prefix_cache?.possible_ratio ?? 0;
    expect(Math.abs(possible - (header.source.cached_input_ratio ?? NaN))).toBeLessThan(0.05);
    const report = await readFile(join(folder, 'runs', result.run_id, 'report.html'), 'utf8');
    expect(report).toContain('The plan reproduces the load of');
  });

  test('run makes the plan itself', async () => {
    const { code, stderr, stdout } = await llmbench(
      ...['run', '--url', server.url, '--model', 'sim-model', '--runs-dir', join(folder, 'runs'), '--json'],
      ...['--load-from-prometheus', prometheus.url, '--match', 'job="vllm"', '--window', window, '--compress', '10'],
    );
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^plan: .*\.jsonl$/m)]);
    expect((JSON.parse(stdout) as ResultFile).load_fit).toHaveLength(4);
  });

  test('what has no load is one line', async () => {
    const [from = ''] = window.split('/');
    const before = (seconds: number): string => new Date(Date.parse(from) - 1000 * seconds).toISOString();
    const nothing = await llmbench(
      ...[
        'plan',
        '--load-from-prometheus',
        prometheus.url,
        '--match',
        'job="vllm"',
        '--window',
        `${before(3600)}/${before(600)}`,
      ],
      ...['--output', join(folder, 'none.jsonl')],
    );
    expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringMatching(/^llmbench plan: .*\n$/)]);
  });
});
