import { afterEach, expect, test } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { Collector } from './collector.ts';
import { endEdge, startEdge, type EdgeOptions } from './run-edges.ts';
import { LateFamilies } from '../summary/late-families.ts';
import { metricsServer, page } from '../testing/metrics-server.ts';
import { parseTarget } from './targets.ts';

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

const now_ns = (): number => performance.now() * 1e6;

async function collecting(
  pageAt: (scrape: number) => string,
): Promise<{ collector: Collector; asked: readonly string[] }> {
  const server = await metricsServer((_, response, i) => page(response, pageAt(i)));
  cleanUp.push(() => server.close());
  const targets = [parseTarget(server.origin)];
  const collector = new Collector({ targets, interval_ns: 60e9, now_ns, report: () => undefined });
  cleanUp.push(() => collector.stop());
  return { collector, asked: server.asked };
}

const said: string[] = [];
const options = (drainTimeoutSeconds = 60): EdgeOptions => ({
  late: new LateFamilies(),
  now_ns,
  drainTimeoutSeconds,
  say: (line) => said.push(line),
});
const never = new AbortController().signal;
const vllm = (running: number, tokens: number, other = 0): string =>
  `# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running ${running}\n# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total ${tokens}\n# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total ${other}\n`;

test('the start waits until the server is idle; its last scrape is the reference', async () => {
  const { collector, asked } = await collecting((i) => vllm(Math.max(0, 2 - i), 10));
  expect(await startEdge(collector, options(), never)).toBe(true);
  expect(asked).toHaveLength(3);
});

test('a server kept busy by other clients is waited for until the drain timeout', async () => {
  const { collector } = await collecting(() => vllm(3, 10));
  expect(await startEdge(collector, options(0.05), never)).toBe(false);
  expect(said.at(-1)).toMatch(/still hold 3 requests/);
});

test('an aborted run does not wait', async () => {
  const { collector } = await collecting(() => vllm(3, 10));
  const givenUp = new AbortController();
  const started = startEdge(collector, options(), givenUp.signal);
  givenUp.abort();
  expect(await started).toBe(false);
});

test('a server without such gauges is not waited for', async () => {
  const { collector, asked } = await collecting(() => 'x 1\n');
  expect(await startEdge(collector, options(), never)).toBe(true);
  expect(asked).toHaveLength(1);
});

test('the wait for idle servers begins when Ray has reported', async () => {
  const { collector } = await collecting((i) => vllm(i < 2 ? 1 : 0, 10).replaceAll('vllm:', 'ray_vllm_'));
  await collector.scrapeEdge();
  expect(await startEdge(collector, options(5), never)).toBe(true);
}, 60_000);

test("a page of Ray is waited for, because it lacks the engine's counts of the last seconds", async () => {
  const { collector } = await collecting(() => '# TYPE ray_actors gauge\nray_actors 1\n');
  await collector.scrapeEdge();
  const before_ns = now_ns();
  expect(await startEdge(collector, options(), never)).toBe(true);
  expect(now_ns() - before_ns).toBeGreaterThan(10e9);
  expect(said.at(-1)).toBe('Ray reports metrics every 10 s: waiting 11 s for the counts of the earlier requests');
}, 60_000);

test('the end scrapes until token and request counts settle, regardless of process metrics', async () => {
  const { collector, asked } = await collecting((i) => vllm(0, 10 + Math.min(i, 3), i));
  const { atRest } = await endEdge(collector, options(), never);
  expect(atRest).toBe(true);
  // Tokens change until the fourth page; the fifth is the first without a change.
  expect(asked).toHaveLength(5);
});

test('the wait for counts that never settle ends after two seconds and is reported', async () => {
  const { collector } = await collecting((i) => vllm(0, i));
  expect(await endEdge(collector, options(), never)).toMatchObject({ atRest: false });
});
