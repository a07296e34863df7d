import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import express from 'express';
import { expect, test } from '@jest/globals';
import { request } from 'undici';
import { catalogs } from '../../catalog/load.ts';
import type { CatalogFamily } from '../../catalog/types.ts';
import { describeWithPrometheus } from '../../prometheus/testing/describe-prometheus.ts';
import { startPrometheus } from '../../prometheus/server.ts';
import { listen } from '../http/listen.ts';
import { metricsRoute } from '../http/service-routes.ts';
import type { SeriesSummary, ServersFile } from '../../core/run/servers-file.ts';
import { distribution, requestRecord, resultFile, runFile } from './fixtures/run.ts';
import { counter, gauge, histogram, serversFile, target } from './fixtures/servers.ts';
import { ResultMetrics } from './result-metrics.ts';
import type { ResultMetricsOptions } from './result-metrics.ts';
import { runSummary } from './views/run-summary.ts';
import { wholePage } from './testing/whole-page.ts';

const RUN = runFile({ run_id: 'r1', status: 'completed' });
const PERCENTILE = { estimate: 0.2, bounds: [0.1, null], bounds_by_sum: null } as const;

function metricsOf(servers: ServersFile, options: Partial<ResultMetricsOptions> = {}): ResultMetrics {
  return new ResultMetrics({
    source: {
      list: async () => [{ run_id: 'r1', summary: runSummary(RUN, null), damage: null }],
      readRun: async () => RUN,
      readResult: async () => resultFile({ run_id: 'r1', measures: [distribution()] }),
      readServers: async () => servers,
      async *readRecords() {
        yield requestRecord();
      },
      live: async () => [],
    },
    version: '0.1.0',
    problem: (line) => {
      throw new Error(line);
    },
    ...options,
  });
}

/** The letter that promtool takes for days stands for decode, and is a part of the name of llm-d. */
const NO_DAYS = ['llmbench_server_dynamo_planner_d_correction_factor', 'llmbench_server_llm_d_'];
const isOfDays = (line: string): boolean =>
  line.endsWith('should not contain abbreviated units') && NO_DAYS.some((name) => line.startsWith(name));

/** A series of a family as its catalog describes it. */
function seriesOf({ name, type, unit, labels }: CatalogFamily): SeriesSummary {
  const facts = { unit, labels: Object.fromEntries(labels.map((label) => [label, 'x'])) };
  if (type === 'counter') return counter(name, 5, facts);
  if (type !== 'histogram') return gauge(name, 1, 2, facts);
  const buckets: [string, number][] = [['0.1', 1], ['5', 2], ['+Inf', 3]]; // prettier-ignore
  return histogram(name, { count: 3, sum: 6, buckets }, PERCENTILE, facts);
}

await describeWithPrometheus('the page of finished runs', (programs) => {
  test.each(catalogs())('promtool reports no problem with any family of $system', async ({ system, families }) => {
    const url = 'http://gpu-1:8000/metrics';
    const servers = serversFile(families.map(seriesOf), { targets: [target(url, system)] });
    const body = wholePage(await metricsOf(servers, { republish: ['*'] }).render(undefined));
    expect(body.toString().match(/^# TYPE llmbench_server_/gm)?.length ?? 0).toBeGreaterThanOrEqual(
      families.length / 2,
    );
    const check = spawn(programs.promtool, ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
    let said = '';
    check.stdout.on('data', (text: Buffer) => (said += text.toString()));
    check.stderr.on('data', (text: Buffer) => (said += text.toString()));
    check.stdin.end(body);
    await once(check, 'close');
    const found = said.split('\n').filter((line) => line !== '' && !isOfDays(line));
    expect([system, found]).toEqual([system, []]);
  });

  test('a Prometheus that scrapes it holds the exact results, the histograms and the bounds', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'llmbench-results-'));
    const ttft = histogram(
      'vllm:time_to_first_token_seconds',
      { count: 4, sum: 0.9, buckets: [['0.1', 1], ['0.5', 4], ['+Inf', 4]] }, // prettier-ignore
      { estimate: 0.3, bounds: [0.1, 0.5], bounds_by_sum: [0.2, 0.4] },
    );
    const metrics = metricsOf(serversFile([ttft, counter('vllm:prompt_tokens_total', 640)]));
    const server = await listen(express().get('/metrics', metricsRoute(metrics)), { host: '127.0.0.1', port: 0 });
    const configFile = join(folder, 'prometheus.yml');
    await writeFile(
      configFile,
      `scrape_configs: [{job_name: llmbench, scrape_interval: 1s, static_configs: [{targets: ['127.0.0.1:${server.port}']}]}]\n`,
    );
    const prometheus = await startPrometheus({ programs, configFile, dataFolder: join(folder, 'data') });
    try {
      const value = (query: string): Promise<number> => responseOf(prometheus.url, query);
      expect(await value('llmbench_result_seconds{measure="time_to_first_token",stat="p99"}')).toBe(0.5);
      expect(await value('llmbench_server_vllm_prompt_tokens_total')).toBe(640);
      // Rank 0.5 · 4 = 2 lies a third into the bucket (0.1, 0.5].
      const median = 'histogram_quantile(0.5, sum by (le) (llmbench_server_vllm_time_to_first_token_seconds_bucket))';
      expect(await value(median)).toBeCloseTo(0.1 + 0.4 / 3, 12);
      expect(
        await value('llmbench_server_vllm_time_to_first_token_seconds_quantile{quantile="0.99",bound="high"}'),
      ).toBe(0.4);
      // One request, whose first token came after 120 ms.
      expect(await value('llmbench_result_time_to_first_token_seconds_count')).toBe(1);
      expect(await value('llmbench_result_time_to_first_token_seconds_sum')).toBe(0.12);
      expect(await value('up')).toBe(1);
    } finally {
      await prometheus.stop();
      await server.close();
      await rm(folder, { recursive: true });
    }
  });
});

/** The one value of an instant query, once there is one. */
async function responseOf(url: string, query: string): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const { body } = await request(`${url}/api/v1/query?query=${encodeURIComponent(query)}`);
    const { data } = (await body.json()) as { data: { result: { value: [number, string] }[] } };
    const [found] = data.result;
    if (found !== undefined) return Number(found.value[1]);
    await pause(100);
  }
  throw new Error(`Prometheus never had an answer to ${query}`);
}
