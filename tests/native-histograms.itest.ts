import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWithPrometheusMajor } from '../prometheus/testing/describe-prometheus.ts';
import { startPrometheus, type PrometheusServer } from '../prometheus/server.ts';
import { until } from '../core/testing/until.ts';

const FAMILY = 'vllm:time_to_first_token_seconds';
const CLIENT_FAMILY = 'llmbench_time_to_first_token_seconds';
const RUN = 'run-1';

const histogram = (family: string, labels: string, count: number): string => `# TYPE ${family} histogram
${family}_bucket{${labels}le="0.1"} ${count - 1}
${family}_bucket{${labels}le="+Inf"} ${count}
${family}_sum{${labels}} 0.5
${family}_count{${labels}} ${count}
`;

/** By URL, because the plugin has a TypeScript project of its own. */
const fromPlugin = async (path: string): Promise<unknown> =>
  import(new URL(`../grafana-plugin/src/${path}`, import.meta.url).href);
const { nativeOnlyQuery } = (await fromPlugin('prometheus/native-queries.ts')) as {
  nativeOnlyQuery: (names: readonly string[]) => string;
};
const { rawHistogram } = (await fromPlugin('prometheus/native-queries.ts')) as {
  rawHistogram: (family: string, matchers: string) => string;
};
type CountQuery = (family: string, runId: string, rangeSeconds: number) => string;
const { classicCountQuery, nativeSeriesQuery, eitherCountQuery } = (await fromPlugin(
  'prometheus/native-queries.ts',
)) as Record<'classicCountQuery' | 'nativeSeriesQuery' | 'eitherCountQuery', CountQuery>;

await describeWithPrometheusMajor('3', 'a Prometheus that converts all classic histograms', (programs) => {
  let folder: string;
  let page: Server;
  let prometheus: PrometheusServer;
  let requests = 4;
  let configFile: string;
  let configuration: (switched: string) => string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-native-'));
    page = createServer((_request, response) => {
      response
        .setHeader('content-type', 'text/plain; version=0.0.4')
        .end(histogram(FAMILY, '', 4) + histogram(CLIENT_FAMILY, `run_id="${RUN}",`, requests));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => page.once('listening', resolve));
    const target = `127.0.0.1:${(page.address() as AddressInfo).port}`;
    const job = (name: string, settings: string): string =>
      `  - job_name: ${name}\n    static_configs: [{ targets: ['${target}'] }]\n${settings}`;
    const guide = await readFile(new URL('../docs/guides/prometheus.md', import.meta.url), 'utf8');
    const [, settings = ''] = /## Native histograms\n[^`]*(?:`[^`]+`[^`]*)*?```yaml\n([^`]*)```/.exec(guide) ?? [];
    expect(settings).toContain('always_scrape_classic_histograms');
    const indented = settings.replaceAll(/^(?=.)/gm, '    ');
    configFile = join(folder, 'prometheus.yml');
    configuration = (switched) => `global: { scrape_interval: 1s, convert_classic_histograms_to_nhcb: true }
scrape_configs:
${job('converted', '')}${job('kept', indented)}${job('both', '    always_scrape_classic_histograms: true\n')}${job('switched', switched)}`;
    await writeFile(configFile, configuration('    convert_classic_histograms_to_nhcb: false\n'));
    // After a reload the last sample of a series that is no longer stored is returned for so long.
    const lookback = '--query.lookback-delta=5s';
    const flags = ['--enable-feature=native-histograms', '--web.enable-lifecycle', lookback];
    prometheus = await startPrometheus({ programs, configFile, dataFolder: join(folder, 'data'), flags });
    await until(async () => (await count('up == 1')) === 4);
  });

  afterAll(async () => {
    await prometheus.stop();
    page.close();
    page.closeAllConnections();
    await rm(folder, { recursive: true });
  });

  interface Found {
    readonly metric: Record<string, string>;
    readonly value?: readonly [number, string];
    readonly histogram?: readonly [number, { readonly count: string }];
  }
  interface InRange {
    readonly metric: Record<string, string>;
    readonly values?: readonly (readonly [number, string])[];
    readonly histograms?: readonly (readonly [number, unknown])[];
  }
  const result = async (query: string): Promise<readonly Found[]> => {
    const response = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(query)}`);
    return ((await response.json()) as { data: { result: readonly Found[] } }).data.result;
  };
  const value = async (query: string): Promise<number> => Number((await result(query))[0]?.value?.[1] ?? NaN);
  const count = async (query: string): Promise<number> => (await result(query)).length;

  test('has no buckets, except where the settings of the guide keep them', async () => {
    expect(await count(`${FAMILY}_bucket{job="converted"}`)).toBe(0);
    expect(await count(`${FAMILY}{job="converted"}`)).toBe(1);
    expect(await count(`${FAMILY}_bucket{job="kept"}`)).toBe(2);
    expect(await count(`${FAMILY}{job="kept"}`)).toBe(0);
  });

  test("the app's query names what is only native, with its job", async () => {
    const names = ['llmbench_time_to_first_token_seconds', FAMILY, 'sglang:time_to_first_token_seconds'];
    const found = (await result(nativeOnlyQuery(names))).map(({ metric }) => metric);
    const ofConverted = [CLIENT_FAMILY, FAMILY].map((family) => ({ family, job: 'converted' }));
    expect([...found].sort((a, b) => (String(a['family']) < String(b['family']) ? -1 : 1))).toEqual(ofConverted);
  });

  test("the app's panels read the buckets where there are any, else the native histogram", async () => {
    const read = async (job: string) => {
      const found = await result(rawHistogram(FAMILY, `job="${job}"`));
      return found.map(({ metric, histogram: native }) => `${metric['__name__']} ${metric['le'] ?? native?.[1].count}`);
    };
    const buckets = [`${FAMILY}_bucket 0.1`, `${FAMILY}_bucket +Inf`];
    expect(await read('converted')).toEqual([`${FAMILY} 4`]);
    expect((await read('kept')).sort()).toEqual(buckets.sort());
    expect((await read('both')).sort()).toEqual(buckets.sort());
    expect(await count(`${FAMILY}{job="both"}`)).toBe(1);
  });

  test("the app counts a run's requests of either kind once per server", async () => {
    const all = async (): Promise<boolean> =>
      (await value(`min(histogram_count(${CLIENT_FAMILY}))`)) === requests &&
      (await value(`min(${CLIENT_FAMILY}_count)`)) === requests;
    await until(all);
    requests = 10;
    await until(all);
    // The moments of the query are whole seconds.
    await until(async () => (await value(eitherCountQuery(CLIENT_FAMILY, RUN, 60))) === 24);
    // 6 of each job: three store classic histograms, two native ones, and one of them both.
    expect(await value(classicCountQuery(CLIENT_FAMILY, RUN, 60))).toBe(18);
    expect(await value(nativeSeriesQuery(CLIENT_FAMILY, RUN, 60))).toBe(2);
    expect(await value(eitherCountQuery(CLIENT_FAMILY, RUN, 60))).toBe(24);
    expect(await count(eitherCountQuery(CLIENT_FAMILY, 'nothing', 60))).toBe(0);
  });

  test('a job that begins to convert: the range has the buckets, and after them the native histogram', async () => {
    const switched = '{job="switched"}';
    await until(async () => (await count(`${FAMILY}_bucket${switched}`)) === 2);
    await writeFile(configFile, configuration(''));
    const answer = await fetch(`${prometheus.url}/-/reload`, { method: 'POST' });
    expect(answer.status).toBe(200);
    const query = rawHistogram(FAMILY, 'job="switched"');
    await until(async () => (await result(query)).some(({ histogram: native }) => native !== undefined));
    // The steps are whole seconds, and the first sample may be younger than the last of them.
    const now = Math.ceil(Date.now() / 1000);
    const parameters = { start: `${now - 120}`, end: `${now}`, step: '1' };
    const range = await fetch(
      `${prometheus.url}/api/v1/query_range?${new URLSearchParams({ query, ...parameters }).toString()}`,
    );
    const { data } = (await range.json()) as { data: { result: readonly InRange[] } };
    const times = (le: string | undefined): readonly number[] => {
      const found = data.result.find(({ metric }) => metric['le'] === le);
      return [...(found?.values ?? []), ...(found?.histograms ?? [])].map(([seconds]) => seconds);
    };
    expect(times('+Inf').length).toBeGreaterThan(0);
    expect(times(undefined).length).toBeGreaterThan(0);
    expect(times('0.1')).toEqual(times('+Inf'));
    expect(times(undefined)[0]).toBeGreaterThan(times('+Inf').at(-1) ?? Infinity);
    // The count goes on, so that nothing is counted between the two.
    expect(await value(eitherCountQuery(CLIENT_FAMILY, RUN, 120))).toBe(24);
  });
});
