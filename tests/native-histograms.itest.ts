import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWithPrometheusMajor } from '../prometheus/describe-prometheus.ts';
import { startPrometheus, type PrometheusServer } from '../prometheus/server.ts';

const WAIT_MS = 60_000;
const FAMILY = 'vllm:time_to_first_token_seconds';
const PAGE = `# TYPE ${FAMILY} histogram
${FAMILY}_bucket{le="0.1"} 3
${FAMILY}_bucket{le="+Inf"} 4
${FAMILY}_sum 0.5
${FAMILY}_count 4
`;
/** By URL, because the plugin has a TypeScript project of its own. */
const QUERY = new URL('../grafana-plugin/src/prometheus/native-only.ts', import.meta.url).href;
const { nativeOnlyQuery } = (await import(QUERY)) as { nativeOnlyQuery: (names: readonly string[]) => string };

await describeWithPrometheusMajor('3', 'a Prometheus that converts all classic histograms', (programs) => {
  let folder: string;
  let page: Server;
  let prometheus: PrometheusServer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-native-'));
    page = createServer((_request, response) => {
      response.setHeader('content-type', 'text/plain; version=0.0.4').end(PAGE);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => page.once('listening', resolve));
    const target = `127.0.0.1:${(page.address() as AddressInfo).port}`;
    const job = (name: string, settings: string): string =>
      `  - job_name: ${name}\n    static_configs: [{ targets: ['${target}'] }]\n${settings}`;
    const guide = await readFile(new URL('../docs/guides/prometheus.md', import.meta.url), 'utf8');
    const [, settings = ''] = /## Native histograms\n[^`]*(?:`[^`]+`[^`]*)*?```yaml\n([^`]*)```/.exec(guide) ?? [];
    expect(settings).toContain('always_scrape_classic_histograms');
    const indented = settings.replaceAll(/^(?=.)/gm, '    ');
    const configFile = join(folder, 'prometheus.yml');
    await writeFile(
      configFile,
      `global: { scrape_interval: 1s, convert_classic_histograms_to_nhcb: true }
scrape_configs:
${job('converted', '')}${job('kept', indented)}`,
    );
    const flags = ['--enable-feature=native-histograms'];
    prometheus = await startPrometheus({ programs, configFile, dataFolder: join(folder, 'data'), flags });
    for (const end = Date.now() + WAIT_MS; (await count('up == 1')) !== 2 && Date.now() < end;) await sleep(200);
  });

  afterAll(async () => {
    await prometheus.stop();
    page.close();
    page.closeAllConnections();
    await rm(folder, { recursive: true });
  });

  const result = async (query: string): Promise<readonly { metric: Record<string, string> }[]> => {
    const response = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(query)}`);
    return ((await response.json()) as { data: { result: { metric: Record<string, string> }[] } }).data.result;
  };
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
    expect(found).toEqual([{ family: FAMILY, job: 'converted' }]);
  });
});
