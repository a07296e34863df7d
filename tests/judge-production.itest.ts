import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWithPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import { startPrometheus, type PrometheusServer } from '../prometheus/server.ts';
import { llmbench } from './llmbench.ts';

const SCRAPE_SECONDS = 30;
const SLICE_SECONDS = 600;
const HOUR = 3600;
const DAY = 24 * HOUR;
const DAYS = 6;
/** Of a server, the mean time to first token of a slice. */
type Means = (slice: number, day: number) => number;

const STABLE: Means = (slice, day) => 0.1 * (1 + 0.01 * Math.sin(2.3 * day)) * (1 + 0.01 * Math.sin(1.7 * slice));
/** Slower, by an amount that rises and falls within the hour. */
const CANARY: Means = (slice) => 0.12 * (1 + 0.05 * Math.sin((2 * Math.PI * slice) / 6));

await describeWithPrometheus('a canary in a Prometheus with days of history', (programs) => {
  let folder: string;
  let prometheus: PrometheusServer;
  /** Of the hour, in Unix seconds. */
  const from = Math.floor(Date.now() / 1000 / SLICE_SECONDS) * SLICE_SECONDS - 3 * HOUR;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-production-'));
    const dataFolder = join(folder, 'data');
    const page = join(folder, 'page');
    await writeFile(
      page,
      recording(
        [
          ['stable', STABLE, DAYS],
          ['canary', CANARY, 0],
        ],
        from,
      ),
    );
    await promisify(execFile)(programs.promtool, ['tsdb', 'create-blocks-from', 'openmetrics', page, dataFolder]);
    const configFile = join(folder, 'prometheus.yml');
    await writeFile(configFile, 'scrape_configs: []\n');
    prometheus = await startPrometheus({ programs, configFile, dataFolder });
  });

  afterAll(async () => {
    await prometheus?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const imported = async (runs: string, version: string, ...more: readonly string[]): Promise<void> => {
    const { code, stderr } = await llmbench(
      ...['import', '--prometheus', prometheus.url, '--match', `version="${version}"`, '--scenario', 'prod'],
      ...['--from', String(from), '--to', String(from + HOUR), '--slice', `${SLICE_SECONDS}s`, '--tag', version],
      ...['--runs-dir', runs, ...more],
    );
    expect([code, stderr]).toEqual([0, '']);
  };
  const compared = (runs: string, ...more: readonly string[]) =>
    llmbench('compare', 'tag:stable', 'tag:canary', '--paired', '--runs-dir', runs, ...more);

  test('is undecided by an hour alone, whose slices resemble each other, and has regressed beside the days', async () => {
    const runs = join(folder, 'runs');
    await imported(runs, 'stable');
    await imported(runs, 'canary');
    const alone = JSON.parse((await compared(runs, '--json')).stdout) as { verdict: string; reason: string };
    expect(alone).toMatchObject({ verdict: 'undecided', reason: 'dependent_slices' });

    await imported(runs, 'stable', '--days', String(DAYS));
    const { code, stdout } = await compared(runs);
    expect(code).toBe(99);
    expect(stdout).toMatch(/verdict +regressed/);
    expect(stdout).toContain(`How much A varies without a change is known from ${DAYS} other days.`);
    expect(stdout).toMatch(/runs +A 6 runs, B 6 runs/);
  });

  test('whose other slices are of no pair is refused', async () => {
    const runs = join(folder, 'others');
    await imported(runs, 'stable');
    const { code, stderr } = await llmbench(
      ...['import', '--prometheus', prometheus.url, '--match', 'version="canary"', '--scenario', 'prod'],
      ...['--from', String(from), '--to', String(from + HOUR / 2), '--slice', `${SLICE_SECONDS}s`, '--tag', 'canary'],
      ...['--runs-dir', runs],
    );
    expect([code, stderr]).toEqual([0, '']);
    const refused = await compared(runs);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(
      /of A has none beside it in B: import both with the same --from, --to and --slice\n$/,
    );
  });
});

/** What a Prometheus has of servers in an hour of some days, each at one request per second, as OpenMetrics. */
function recording(servers: readonly (readonly [version: string, means: Means, days: number])[], from: number): string {
  const lines: Record<string, string[]> = { ttft: [], itl: [], requests: [] };
  for (const [version, means, days] of servers) {
    for (let day = days; day >= 0; day--) {
      const begin = from - day * DAY;
      let sum = 0;
      for (let count = 0; count <= HOUR + SCRAPE_SECONDS; count += SCRAPE_SECONDS) {
        const labels = `instance="${version}:8000",job="vllm",version="${version}"`;
        const at = begin + count - SCRAPE_SECONDS / 2;
        const add = (family: string, name: string, more: string, value: number): void =>
          void lines[family]?.push(`vllm:${name}{${labels}${more}} ${value} ${at}`);
        add('ttft', 'time_to_first_token_seconds_bucket', ',le="0.25"', count);
        add('ttft', 'time_to_first_token_seconds_bucket', ',le="+Inf"', count);
        add('ttft', 'time_to_first_token_seconds_sum', '', sum);
        add('ttft', 'time_to_first_token_seconds_count', '', count);
        add('itl', 'time_per_output_token_seconds_bucket', ',le="+Inf"', 20 * count);
        add('itl', 'time_per_output_token_seconds_sum', '', 0.01 * 20 * count);
        add('itl', 'time_per_output_token_seconds_count', '', 20 * count);
        add('requests', 'request_success_total', ',finished_reason="stop"', count);
        sum += SCRAPE_SECONDS * means(Math.floor(count / SLICE_SECONDS), day);
      }
    }
  }
  return [
    '# TYPE vllm:time_to_first_token_seconds histogram',
    ...bySeries(lines['ttft'] ?? []),
    '# TYPE vllm:time_per_output_token_seconds histogram',
    ...bySeries(lines['itl'] ?? []),
    '# TYPE vllm:request_success counter',
    ...bySeries(lines['requests'] ?? []),
    '# EOF\n',
  ].join('\n');
}

/** The samples of a series follow each other. */
const bySeries = (lines: readonly string[]): readonly string[] =>
  [...Map.groupBy(lines, (line) => line.slice(0, line.indexOf('}'))).values()].flat();
