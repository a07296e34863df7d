import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { addRun } from '../../store/changes/add-run.ts';
import { addedRun } from '../../store/fixtures/added-run.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { exampleRecord } from '../../store/fixtures/example-run.ts';
import { openStore } from '../../store/run-store.ts';
import { metricsServer, page, type MetricsServer } from '../../servers/testing/metrics-server.ts';
import { CliError, ExitCode } from '../failure.ts';
import { run } from './buckets.ts';

let printed = '';
let directory: string;
const cleanUp: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  printed = '';
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  directory = await mkdtemp(join(tmpdir(), 'llmbench-buckets-'));
  cleanUp.push(() => rm(directory, { recursive: true }));
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const each of cleanUp.splice(0).reverse()) await each();
});

async function failure(...argv: string[]): Promise<CliError> {
  const error = await run(argv).catch((reason: unknown) => reason);
  if (error instanceof CliError) return error;
  throw new Error(`no CliError: ${String(error)}`);
}

/** The lines of a histogram: counts per bucket, the last above the last bound. */
function histogram(family: string, bounds: readonly number[], counts: readonly number[], labels = ''): string {
  let sum = 0;
  const rows = counts.map((count, i) => `${family}_bucket{${labels}le="${bounds[i] ?? '+Inf'}"} ${(sum += count)}`);
  const set = labels === '' ? '' : `{${labels.replace(/,$/, '')}}`;
  return [`# TYPE ${family} histogram`, ...rows, `${family}_sum${set} 1`, `${family}_count${set} ${sum}`, ''].join(
    '\n',
  );
}

async function server(pages: readonly string[]): Promise<MetricsServer> {
  const made = await metricsServer((_, response, position) =>
    page(response, pages[Math.min(position, pages.length - 1)] ?? ''),
  );
  cleanUp.push(() => made.close());
  return made;
}

/** Ten requests, with first tokens after 50, 100, … 500 ms. */
async function* tenRecords(): AsyncGenerator<RequestRecord> {
  for (let i = 1; i <= 10; i++) {
    await Promise.resolve();
    yield exampleRecord(5 * i, { sent_ns: 0, first_content_ns: i * 50_000_000 });
  }
}

const TTFT = 'sglang:time_to_first_token_seconds';
const watch = (url: string, ...more: string[]): Promise<number> => run(['--url', url, '--window', '0.1', ...more]);

describe('--url', () => {
  test('counts between two scrapes: interval, width, bounds, cost and the flag to copy', async () => {
    // 100 before the window; in it, 100 in (0.1, 0.2].
    const { origin } = await server([
      histogram(TTFT, [0.1, 0.2, 0.4], [100, 0, 0, 0]),
      histogram(TTFT, [0.1, 0.2, 0.4], [100, 100, 0, 0]),
    ]);
    expect(await watch(origin)).toBe(ExitCode.done);
    expect(printed).toContain(`${origin}/metrics  sglang`);
    // 0.1 / 0.15 = 67 %
    expect(printed).toMatch(
      /sglang:time_to_first_token_seconds +100 +100 – 200 ms \(67 %\) +100 – 200 ms \(67 %\) +100 – 200 ms \(67 %\)\n/,
    );
    expect(printed).toMatch(
      /sglang:time_to_first_token_seconds +0\.15 +\+1 \(6 today\) +--bucket-time-to-first-token\n/,
    );
    expect(printed).toContain('  --bucket-time-to-first-token 0.1 0.15 0.2 0.4 0.477 0.5 0.525\n');
    expect(printed).not.toContain('since start');
  });

  test('takes the counts since the start where nothing happened, and marks them', async () => {
    const idle = histogram(TTFT, [0.1, 0.2], [0, 100, 0]) + histogram('sglang:queue_time_seconds', [1], [0, 0]);
    const { origin } = await server([idle]);
    await watch(origin);
    expect(printed).toMatch(/100 – 200 ms \(67 %\) +since start\n/);
    expect(printed).toContain('nothing was observed in the window');
    expect(printed).toContain('1 histogram family without observations');
  });

  test('says which bound is missing, and where the server has no option', async () => {
    const family = 'sglang:queue_time_seconds';
    const { origin } = await server([histogram(family, [0.5, 1], [0, 0, 0]), histogram(family, [0.5, 1], [0, 0, 100])]);
    await watch(origin);
    expect(printed).toMatch(/sglang:queue_time_seconds +100 +> 1 s +> 1 s +> 1 s\n/);
    expect(printed).toMatch(/sglang:queue_time_seconds +one above 1 +– +the server has no option\n/);
  });

  test('does not claim to know the options of an unknown server', async () => {
    const { origin } = await server([
      histogram('mine_seconds', [1, 2], [0, 0, 0]),
      histogram('mine_seconds', [1, 2], [0, 9, 0]),
    ]);
    await watch(origin);
    expect(printed).toContain('unknown system');
    expect(printed).toMatch(/mine_seconds +1\.5 +\+1 \(5 today\) +not known\n/);
  });

  test('as JSON: the same, with ends that are infinite as null', async () => {
    const labels = (stage: string): string => `stage="${stage}",`;
    const family = 'sglang:per_stage_req_latency_seconds';
    const { origin } = await server([
      '# TYPE a gauge\na 1\n',
      histogram(family, [1, 2], [0, 100, 0], labels('decode')) +
        histogram(family, [1, 2], [0, 0, 50], labels('prefill')).replace(/^#.*\n/, ''),
    ]);
    await watch(origin, '--json');
    const { run_id, window, targets } = JSON.parse(printed) as Record<string, never> & { targets: unknown[] };
    expect(run_id).toBeNull();
    expect(window).toMatchObject({ seconds: expect.any(Number) });
    const interval = { low: 1, high: 2, width: 1, relative_width: 1 / 1.5, buckets: 1 };
    expect(targets).toMatchObject([
      {
        target: `${origin}/metrics`,
        families: [
          {
            family,
            system: 'sglang',
            unit: 'seconds',
            counted: 'window',
            bounds: [1, 2],
            groups: [
              { labels: { stage: 'decode' }, n: 100, percentiles: { p50: interval, p90: interval, p99: interval } },
              { labels: { stage: 'prefill' }, n: 50, percentiles: { p50: { low: 2, high: null, width: null } } },
            ],
            divide: [{ low: 1, high: 2, bound: 1.5 }],
            missing_above: 2,
            series: 10,
            series_added: 2,
            option: null,
            option_known: true,
          },
        ],
        without_observations: [],
        settings: [],
      },
    ]);
  });

  test('an objective and the threshold of the alert, which are no bounds: what is open, and what the flag then has', async () => {
    const bounds = [0.1, 0.2, 0.4, 0.6];
    const { origin } = await server([
      histogram(TTFT, bounds, [0, 0, 0, 0, 0]),
      histogram(TTFT, bounds, [0, 60, 30, 8, 2]),
    ]);
    await watch(origin, '--slo', 'ttft:p75<300ms', '--slo', 'error_ratio<=1%');
    expect(printed).toMatch(/TTFT p75 < 300 ms +sglang:time_to_first_token_seconds +60 – 90 % +0\.286 0\.3 0\.315\n/);
    expect(printed).toMatch(
      /TTFT <= 500 ms \(alert, 99 %\) +sglang:time_to_first_token_seconds +90 – 98 % +0\.477 0\.5 0\.525\n/,
    );
    const text = printed.replaceAll(/\s+/g, ' ');
    // Linear in the bucket: 60 + 30 × 0.1 ÷ 0.2.
    expect(text).toContain(
      '! 300 ms is no bound of sglang:time_to_first_token_seconds but in the bucket 200 – 400 ms: it is open whether 75 % are ' +
        'within it; Prometheus interpolates 75 %',
    );
    expect(text).toContain('in the bucket 400 – 600 ms: fewer than 99 % are within it; Prometheus interpolates 94 %');
    expect(text).toContain(
      '--bucket-time-to-first-token 0.1 0.15 0.2 0.286 0.3 0.315 0.4 0.477 0.5 0.525 0.6 ' +
        'sglang:time_to_first_token_seconds: 11 bounds (4 today)',
    );
  });

  test('an objective that is a bound has a counted share', async () => {
    const { origin } = await server([
      histogram(TTFT, [0.48, 0.5, 0.52], [0, 0, 0, 0]),
      histogram(TTFT, [0.48, 0.5, 0.52], [90, 7, 3, 0]),
    ]);
    await watch(origin);
    expect(printed).toMatch(/TTFT <= 500 ms \(alert, 99 %\) +sglang:time_to_first_token_seconds +97 % +–\n/);
    expect(printed).not.toContain('!');
  });

  test('fails when no server responds', async () => {
    const gone = await metricsServer((_, response) => response.end());
    await gone.close();
    const { message, exitCode } = await failure('--url', gone.origin);
    expect([message, exitCode]).toEqual(['no target returned metrics', ExitCode.failed]);
  });
});

describe('RUN', () => {
  async function storedRun(id: string, servers: unknown, change: Partial<RunFile> = {}): Promise<void> {
    const { store } = await openStore(directory);
    const added = addedRun(id, { start: '2026-01-01T00:00:00.000Z', ...change });
    await addRun(store, { ...added, records: tenRecords() });
    if (servers !== null) await writeFile(join(store.pathOf(id), 'servers.json'), JSON.stringify(servers));
  }

  const target = { target: 'http://a:8000/metrics', system: 'vllm', state: 'up', notes: [] };
  const servers = (run_id: string): object => ({
    schema_version: 1,
    run_id,
    definitions: 'llmbench',
    window: { start: '2026-01-01T00:00:00.000Z', end: '2026-01-01T00:01:00.000Z', seconds: 60 },
    interval_seconds: 1,
    targets: [target],
    series: [
      {
        target: target.target,
        family: 'vllm:time_to_first_token_seconds',
        type: 'histogram',
        labels: { engine: '0' },
        repeats: null,
        statistics: {
          kind: 'histogram',
          buckets: [
            ['0.25', 0],
            ['0.5', 200],
            ['+Inf', 200],
          ],
        },
      },
    ],
  });

  test('takes the counts of exactly the run', async () => {
    await storedRun('20260101-one', servers('20260101-one'));
    expect(await run(['latest', '--runs-dir', directory])).toBe(ExitCode.done);
    expect(printed).toContain('20260101-one  2026-01-01T00:00:00.000Z to 2026-01-01T00:01:00.000Z, 60 s');
    expect(printed).toMatch(/vllm:time_to_first_token_seconds +200 +250 – 500 ms \(67 %\)/);
    expect(printed).toContain(`--custom-histogram-buckets '{"time_to_first_token": [0.25, 0.375, 0.477, 0.5, 0.525]}'`);
  });

  test('compares the objectives of the run with what the client measured', async () => {
    const gates: RunFile['gates'] = {
      slos: [{ measure: 'time_to_first_token', stat: 'p90', comparison: '<', limit: 0.3, unit: 'seconds' }],
      goodput: [{ measure: 'time_to_first_token', limit: 0.35, unit: 'seconds' }],
    };
    await storedRun('20260101-slo', servers('20260101-slo'), { gates });
    await run(['latest', '--runs-dir', directory, '--json']);
    const [{ limits }] = (JSON.parse(printed) as { targets: [{ limits: unknown[] }] }).targets;
    expect(limits).toMatchObject([
      { text: 'TTFT p90 < 300 ms', from: 'slo', within: { low: 0, high: 1 }, kept: null, add: [0.286, 0.3, 0.315] },
      { text: 'TTFT <= 350 ms', from: 'goodput', within: { low: 0, high: 1 }, kept: null },
      { text: 'TTFT <= 500 ms', from: 'alert', within: { low: 1, high: 1 }, kept: true, client: null },
    ]);
    // Of 50, 100, … 500 ms.
    expect(limits).toMatchObject([{ client: { n: 10, within: 0.6 } }, { client: { n: 10, within: 0.7 } }, {}]);
  });

  test('without server metrics: the message states how to collect them', async () => {
    await storedRun('20260101-two', null);
    const { message, exitCode } = await failure('latest', '--runs-dir', directory);
    expect(message).toBe('20260101-two has no server metrics: run it with --server-metrics URL');
    expect(exitCode).toBe(ExitCode.failed);
  });

  test('with damaged server metrics is refused with the file', async () => {
    await storedRun('20260101-three', { schema_version: 1 });
    expect((await failure('latest', '--runs-dir', directory)).message).toContain('servers.json');
  });

  test.each([
    [['latest', '--url', 'localhost:1'], 'RUN and --url are mutually exclusive'],
    [[], 'RUN or --url is required'],
    [['--url', 'ftp://a'], 'the scheme must be http or https'],
    [['--url', 'localhost:1', '--window', '0'], '--window'],
  ])('%j is refused', async (argv, message) => {
    const error = await failure(...argv);
    expect(error.message).toContain(message);
    expect(error.exitCode).toBe(ExitCode.refused);
  });
});
