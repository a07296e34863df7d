import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { start } from '../../../tests/llmbench.ts';
import { startSimulator, type RunningSimulator } from '../../../simulator/main.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import { readOptions } from '../../cli/options/options.ts';
import { RUN_OPTIONS, runRequests } from '../../cli/options/run-options.ts';
import { servedAlone } from '../../http/testing/served-alone.ts';
import { RunControls } from '../../load/phases/run-controls.ts';
import { performRun } from '../../run/perform-run.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { createServer, type AddressInfo } from 'node:net';
import { resultSamples } from '../result-samples.ts';
import { describeWithPrometheusMajor } from '../../../prometheus/testing/describe-prometheus.ts';
import type { PrometheusPrograms } from '../../../prometheus/programs.mjs';
import { PrometheusReceiver } from '../testing/prometheus-receiver.ts';
import { sendPending } from './send-pending.ts';
import { until } from '../../../core/testing/until.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

let simulator: RunningSimulator;
beforeAll(async () => {
  const engine = { stepBaseMilliseconds: 2, decodeMillisecondsPerSequence: 0.01, prefillMillisecondsPerToken: 0.01 };
  simulator = await startSimulator({ system: 'vllm', model: 'm', engine });
});
afterAll(() => simulator.close());

async function runsFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'llmbench-sent-runs-'));
  cleanUp.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const runArguments = (folder: string, writeUrl: string, more: readonly string[]): string[] => [
  ...['--url', simulator.url, '--model', 'm', '--runs-dir', folder, '--isl', '5', '--osl', '8'],
  ...['--concurrency', '2', '--remote-write-url', writeUrl, '--remote-write-interval', '0.2', ...more],
];

interface SentRun {
  readonly result: ResultFile;
  readonly notes: readonly string[];
  readonly folder: string;
}

async function run(writeUrl: string, more: readonly string[] = []): Promise<SentRun> {
  const folder = await runsFolder();
  const argv = runArguments(folder, writeUrl, ['--request-count', '40', '--warmup-request-count', '4', ...more]);
  const [request] = runRequests(readOptions(RUN_OPTIONS, argv, {}));
  const host = { servePage: servedAlone, say: () => undefined, observe: () => ({ stop: () => undefined }) };
  const { result, notes } = await performRun(request as RunRequest, new RunControls(), host, '0.0.0');
  return { result, notes: notes.filter((note) => note.startsWith('remote write')), folder };
}

async function receiver(
  programs: PrometheusPrograms,
  flags: readonly string[] = [],
  port = 0,
): Promise<PrometheusReceiver> {
  const started = await PrometheusReceiver.start(programs, { flags, port });
  cleanUp.push(() => started.stop());
  return started;
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

const number = (series: readonly { readonly value?: readonly [number, string] }[]): number =>
  Number(series[0]?.value?.[1] ?? NaN);

/** The complete run: live families and exact results, at their times. */
async function expectWhole(prometheus: PrometheusReceiver, { result }: SentRun): Promise<void> {
  const { run_id, window } = result;
  const all = (name: string): string => `${name}{run_id="${run_id}"}[10m]`;
  const later = Date.now() + 20_000;
  const [ok] = await prometheus.query(
    `llmbench_requests_total{run_id="${run_id}",phase="measure",outcome="ok"}[10m]`,
    later,
  );
  const values = ok?.values ?? [];
  expect(values[0]?.[1]).toBe('0');
  expect(values.at(-1)?.[1]).toBe(String(result.requests.ok));
  expect(values.at(-2)?.[1]).toBe(String(result.requests.ok));
  expect(values[0]?.[0]).toBeLessThan(Date.parse(window.start ?? '') / 1000);
  // The last value a second time, then nothing.
  expect((values.at(-1)?.[0] ?? 0) - (values.at(-2)?.[0] ?? 0)).toBeCloseTo(15, 2);
  const end_ms = (values.at(-1)?.[0] ?? 0) * 1000;
  const series = `llmbench_requests_total{run_id="${run_id}"}`;
  expect(await prometheus.query(series, end_ms + 900)).toHaveLength(8);
  expect(await prometheus.query(series, end_ms + 2_000)).toEqual([]);

  const ttft = `llmbench_time_to_first_token_seconds`;
  expect(number(await prometheus.query(`last_over_time(${all(`${ttft}_count`)})`, later))).toBe(40);
  for (const { unit, measure, stat, value } of resultSamples(result)) {
    const [found] = await prometheus.query(
      `llmbench_result_${unit}{run_id="${run_id}",measure="${measure}",stat="${stat}"}[10m]`,
      later,
    );
    expect({ measure, stat, at: found?.values?.[0]?.[0], value: Number(found?.values?.[0]?.[1]) }).toEqual({
      ...{ measure, stat, value },
      at: Date.parse(window.end ?? '') / 1000,
    });
  }
  expect(number(await prometheus.query(`count(last_over_time(${all('llmbench_run_info')}))`, later))).toBe(1);
}

await describeWithPrometheusMajor('2', 'a run over remote write 1.0, without native histograms', (programs) => {
  test('is complete when the run has ended', async () => {
    const prometheus = await receiver(programs);
    const sent = await run(prometheus.writeUrl);
    await expectWhole(prometheus, sent);
    expect(sent.notes).toEqual([expect.stringMatching(/^remote write: \d+ samples written to http:\/\/127[^,]*$/)]);
    expect(await readdir(join(sent.folder, '.remote-write'))).toEqual([]);
  });

  test('rejected native histograms do not affect other series', async () => {
    const prometheus = await receiver(programs);
    const sent = await run(prometheus.writeUrl, ['--remote-write-native-histograms', 'exponential']);
    await expectWhole(prometheus, sent);
    expect(sent.notes[0]).toContain('does not accept native histograms');
  });

  test('a receiver that is down for the whole run gets it later', async () => {
    const port = await freePort();
    const sent = await run(`http://127.0.0.1:${port}/api/v1/write`, ['--remote-write-flush-timeout', '0.5']);
    expect(sent.result).toMatchObject({ status: 'completed', requests: { ok: 40 } });
    expect(sent.notes).toEqual([
      expect.stringMatching(/^remote write: 0 samples written/),
      expect.stringMatching(/\d+ samples wait on disk \(.*ECONNREFUSED.*`llmbench push --remote-write-url http/),
    ]);
    const prometheus = await receiver(programs, [], port);
    const push = start(['push', '--runs-dir', sent.folder, '--remote-write-url', prometheus.writeUrl]);
    const { code, stderr } = await push.ended;
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^[\d,]+ samples of 1 run written, 0 dropped$/m),
    });
    await expectWhole(prometheus, sent);
    expect(await readdir(join(sent.folder, '.remote-write'))).toEqual([]);
  });

  test('samples that a killed process had not sent are sent by the next one', async () => {
    const port = await freePort();
    const folder = await runsFolder();
    const writeUrl = `http://127.0.0.1:${port}/api/v1/write`;
    const killed = start(['run', ...runArguments(folder, writeUrl, ['--benchmark-duration', '60'])]);
    const points = async (): Promise<number> => {
      const names = await readdir(join(folder, '.remote-write'), { recursive: true }).catch(() => []);
      return names.filter((name) => name.includes('point-')).length;
    };
    await until(async () => (await points()) >= 8);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const prometheus = await receiver(programs, [], port);
    const lines: string[] = [];
    const sent = await sendPending({
      ...{ runsDirectory: folder, version: '0', seconds: 20, problem: (line: string) => void lines.push(line) },
      reportsDropped: true,
      receiver: { url: writeUrl, headers: {}, tls: {}, secrets: [], protocol: 'auto' },
    });
    expect(sent).toMatchObject({ queues: 1, dropped: 0, waiting: 0, trouble: null });
    const [inFlight] = await prometheus.query('llmbench_requests_in_flight[10m]');
    expect(inFlight?.values?.length).toBeGreaterThanOrEqual(8);
    expect(lines).toEqual([]);
    // The series has ended: the stale marker is not a value.
    expect(await prometheus.query('llmbench_requests_in_flight', Date.now() + 1000)).toEqual([]);
  });
});

await describeWithPrometheusMajor('3', 'a run over remote write 2.0', (programs) => {
  const NATIVE = ['--enable-feature=native-histograms'];

  test('is complete when the run has ended', async () => {
    const prometheus = await receiver(programs);
    const sent = await run(prometheus.writeUrl, ['--remote-write-protocol', '2', '--remote-write-label', 'job=bench']);
    await expectWhole(prometheus, sent);
    expect(await prometheus.query('count by (job) (last_over_time(llmbench_run_info[10m]))')).toMatchObject([
      { metric: { job: 'bench' } },
    ]);
  });

  test.each(['1', '2'])('with exponential histograms, by protocol %s', async (protocol) => {
    const prometheus = await receiver(programs, NATIVE);
    const sent = await run(prometheus.writeUrl, [
      ...['--remote-write-protocol', protocol, '--remote-write-native-histograms', 'exponential'],
    ]);
    await expectWhole(prometheus, sent);
    const name = 'llmbench_time_to_first_token_seconds';
    expect(number(await prometheus.query(`histogram_count(last_over_time(${name}[10m]))`))).toBe(40);
    const p50 = number(await prometheus.query(`histogram_quantile(0.5, last_over_time(${name}[10m]))`));
    const exact = sent.result.measures.find(
      ({ measure, clock }) => measure === 'time_to_first_token' && clock === 'sent',
    );
    if (exact?.kind !== 'distribution') throw new Error('the result has the time to first token');
    // A bucket is 9 % wide; two ranks may lie in neighboring ones.
    const values = [exact.percentiles.p25.value ?? NaN, exact.percentiles.p75.value ?? NaN];
    expect(p50).toBeGreaterThan((values[0] ?? NaN) / 1.1);
    expect(p50).toBeLessThan((values[1] ?? NaN) * 1.1);
    expect(sent.notes).toHaveLength(1);
  });

  test.each(['1', '2'])('with custom buckets, by protocol %s: as the classic ones', async (protocol) => {
    const prometheus = await receiver(programs, NATIVE);
    const sent = await run(prometheus.writeUrl, [
      ...['--remote-write-protocol', protocol, '--remote-write-native-histograms', 'custom'],
    ]);
    await expectWhole(prometheus, sent);
    const name = 'llmbench_inter_chunk_latency_seconds';
    // A rank exactly between two values has no single answer: across empty buckets, Prometheus returns the lower edge
    // of classic histograms and the upper one of native histograms. Below 1000 values, these ranks are never such.
    for (const q of [0.501, 0.901]) {
      const classic = await prometheus.query(
        `histogram_quantile(${q}, sum by (le) (last_over_time(${name}_bucket[10m])))`,
      );
      const native = await prometheus.query(`histogram_quantile(${q}, last_over_time(${name}[10m]))`);
      expect(number(native)).toBeCloseTo(number(classic), 12);
    }
    expect(sent.notes).toHaveLength(1);
  });

  test('disabled native histograms do not affect other series', async () => {
    const prometheus = await receiver(programs);
    const sent = await run(prometheus.writeUrl, ['--remote-write-native-histograms', 'custom']);
    await expectWhole(prometheus, sent);
    expect(sent.notes[0]).toContain('does not accept native histograms');
  });
});
