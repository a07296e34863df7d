import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CapacityFile } from '../core/run/capacity.ts';
import type { ResultFile } from '../core/run/result.ts';
import type { RunFile } from '../core/run/run.ts';
import type { Comparison } from '../core/api/comparison.ts';
import { startSimulator, type RunningSimulator } from '../simulator/main.ts';
import { startLimitedServer, startQueueingServer } from './limited-server.ts';
import { announced, llmbench, start, type Started } from './llmbench.ts';

let runsDir: string;

beforeEach(async () => {
  runsDir = await mkdtemp(join(tmpdir(), 'llmbench-find-'));
});
afterEach(() => rm(runsDir, { recursive: true, force: true }));

const args = (url: string, ...more: string[]): string[] => [
  ...['run', '--url', url, '--model', 'sim-model', '--runs-dir', runsDir, '--isl', '8', '--osl', '8'],
  ...['--no-discovery', ...more],
];
const runNames = async (): Promise<string[]> =>
  (await readdir(runsDir)).filter((name) => !name.startsWith('.') && name !== 'scenarios');
const searchFile = async (id: string): Promise<CapacityFile> =>
  JSON.parse(await readFile(join(runsDir, 'scenarios', 'default', 'capacity', `${id}.json`), 'utf8')) as CapacityFile;

test('--sweep auto ends when the throughput no longer grows, and is one group', async () => {
  const server = await startQueueingServer(4);
  try {
    const sweep = ['--sweep', 'auto', '--sweep-max', '512', '--benchmark-duration', '2', '--run-id', 'auto'];
    const { code, stdout, stderr } = await llmbench(...args(server.url, ...sweep, '--osl', '1', '--linger', 'no'));
    expect({ code, end: /the sweep ends: twice the load gave .* output tokens per second/.test(stderr) }).toEqual({
      ...{ code: 0, end: true },
    });
    const names = (await runNames()).filter((name) => /^auto-s\d+$/.test(name));
    // Throughput doubles from one request in flight to two and to four.
    expect(names.length).toBeGreaterThan(3);
    expect(names.length).toBeLessThan(10);
    for (const [step] of names.entries()) expect(names).toContain(`auto-s${step}`);
    expect(stdout).toContain('group       auto\n');
  } finally {
    await server.close();
  }
});

test('a server that rejects the fifth request at a time: found, confirmed and stored as one group, and compared', async () => {
  const search = async (id: string, places: number): Promise<string> => {
    const server = await startLimitedServer(places);
    try {
      const find = ['--find', 'concurrency', '--slo', 'error_ratio<=5%', '--run-id', id, '--tag', id, '--json'];
      const { code, stdout, stderr } = await llmbench(...args(server.url, ...find));
      expect({ code, stderr: stderr.includes('internal error') }).toEqual({ code: 0, stderr: false });
      return stdout;
    } finally {
      await server.close();
    }
  };
  const file = JSON.parse(await search('four', 4)) as CapacityFile;
  expect(file).toMatchObject({ end: 'found', confirmed: true });
  expect(file.sentence).toBe('holds up to concurrency 4, fails from concurrency 5 (95 % confidence)');
  expect(file).toEqual(await searchFile('four'));
  const names = await runNames();
  expect(names.sort()).toEqual(file.probes.map(({ run_id }) => run_id).sort());
  for (const { run_id, load, repeat } of file.probes) {
    const run = JSON.parse(await readFile(join(runsDir, run_id, 'run.json'), 'utf8')) as RunFile;
    expect(run).toMatchObject({ status: 'completed', group_id: 'four', repeat, scenario: 'default' });
    expect(run.comparison_key.load).toMatchObject({ mode: 'concurrency', concurrency: load });
    expect(run.phases.map(({ phase }) => phase)).toEqual(['warmup', 'measure']);
  }

  // Capacities are judged: 6 after 4 is +50 %, exit 99 the other way round.
  await search('six', 6);
  const compare = (...more: string[]) => llmbench('compare', ...more, '--runs-dir', runsDir);
  const better = await compare('group:four', 'group:six');
  expect({ code: better.code, stdout: better.stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      /concurrency capacity \* +improved +4 requests +6 requests +\+50 % +\+50 % to \+50 % +±10 % .* 1 \+ 1\n/,
    ) as unknown,
  });
  const worse = await compare('tag:six', 'tag:four', '--json');
  expect(worse.code).toBe(99);
  const report = JSON.parse(worse.stdout) as Comparison;
  expect(report.measures).toMatchObject([{ verdict: 'regressed', values: { a: [[6, 6]], b: [[4, 4]] } }]);
  const single = await compare('four-s0-r0', 'six-s0-r0', '--json');
  expect(single.stdout).not.toContain('concurrency_capacity');
  const gated = await compare('group:four', 'group:six', '--gate', 'error_ratio');
  expect(gated).toMatchObject({ code: 2, stdout: '' });
  expect(gated.stderr).toContain('the capacity alone is compared');
});

describe('a search beside serve', () => {
  let serve: Started;
  let exporter: string;
  beforeEach(async () => {
    serve = start(['serve', '--runs-dir', runsDir, '--port', '0', '--json']);
    exporter = (await announced(serve)).url;
  });
  afterEach(async () => {
    serve.child.kill('SIGTERM');
    await serve.ended;
  });

  /** Scrapes the live pages that /sd has, as Prometheus would, until `ended`. Returns each run's last count of requests. */
  async function scraped(ended: Promise<unknown>): Promise<ReadonlyMap<string, number>> {
    const last = new Map<string, number>();
    let isOver = false;
    void ended.then(() => (isOver = true));
    while (!isOver) {
      const groups = (await (await fetch(`${exporter}/sd`)).json()) as readonly { targets: readonly string[] }[];
      for (const target of groups.flatMap(({ targets }) => targets)) {
        const page = await fetch(`http://${target}/metrics`).then(
          (response) => response.text(),
          () => '',
        );
        const sums = new Map<string, number>();
        for (const [, labels = '', value] of page.matchAll(/^llmbench_requests_total\{(.*)\} (\d+)$/gm)) {
          if (!labels.includes('phase="measure"')) continue;
          const id = /run_id="([^"]+)"/.exec(labels)?.[1] ?? '';
          sums.set(id, (sums.get(id) ?? 0) + Number(value));
        }
        for (const [id, sum] of sums) last.set(id, sum);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return last;
  }

  test('two workers, two servers: one live page for all probes, each with its last values, and the answer', async () => {
    const servers = [await startLimitedServer(2), await startLimitedServer(2)];
    try {
      const find = ['--find', 'concurrency', '--slo', 'error_ratio<=5%', '--run-id', 'cap', '--workers', '2'];
      const [{ url = '' } = {}, other] = servers;
      const search = start(args(url, '--url', other?.url ?? '', ...find, '--concurrency', '2'));
      const last = await scraped(search.ended);
      const { code, stdout, stderr } = await search.ended;
      expect({ code, pages: stderr.match(/live metrics at/g)?.length }).toEqual({ code: 0, pages: 1 });
      expect(stdout).toContain('capacity    holds up to concurrency 4, fails from concurrency 5 (95 % confidence)');
      const { probes, scenario } = await searchFile('cap');
      for (const { run_id } of probes) {
        const { requests } = JSON.parse(await readFile(join(runsDir, run_id, 'result.json'), 'utf8')) as ResultFile;
        const { ok, error, timeout, cancelled } = requests;
        const sent = [ok, error, timeout, cancelled].reduce<number>((sum, count) => sum + (count ?? NaN), 0);
        expect({ run_id, scraped: last.get(run_id) }).toEqual({ run_id, scraped: sent });
      }
      const capacity = { scenario, load: 'concurrency', objective: 'error_ratio<=5%' };
      const page = await (await fetch(`${exporter}/metrics`)).text();
      const labels = Object.entries(capacity).map(([name, value]) => `${name}="${value}"`);
      expect(page).toContain(`llmbench_scenario_capacity{${labels.join(',')},bound="holds"} 4\n`);
      expect(page).toContain(`llmbench_scenario_capacity{${labels.join(',')},bound="fails"} 5\n`);
      const { sweeps } = (await (await fetch(`${exporter}/api/v1/sweeps`)).json()) as { sweeps: readonly unknown[] };
      const within = { holds: 4, fails: 5, monotonic: true, confidence: 0.95 };
      expect(sweeps).toMatchObject([{ source: { kind: 'group', name: 'cap' }, within_objective: within }]);
      const shown = await llmbench('runs', 'show', 'cap', '--runs-dir', runsDir);
      expect(shown.stdout).toContain('+ met up to 4, not met from 5, 95 % confidence');
      await llmbench('report', 'cap', '--runs-dir', runsDir);
      const report = await readFile(join(runsDir, 'cap.report.html'), 'utf8');
      expect(report).toContain('met up to 4, not met from 5, 95 % confidence');
    } finally {
      await Promise.all(servers.map((server) => server.close()));
    }
  });
});

test('a budget that ends before anything is known is no pass', async () => {
  const server = await startLimitedServer(50);
  try {
    const find = ['--find', 'request-rate', '--request-rate', '10', '--slo', 'error_ratio<=5%', '--run-id', 'cap'];
    const { code, stdout } = await llmbench(...args(server.url, ...find, '--max-seconds', '4'));
    expect(stdout).toContain('ended by the budget: nothing is known');
    expect(code).toBe(1);
  } finally {
    await server.close();
  }
});

test('--max-seconds is not exceeded, and the answer so far is kept', async () => {
  const seconds = 38;
  const server = await startLimitedServer(50);
  try {
    // The 155 requests that decide take 19.4 s at 8 requests/s and half of it at 16, on any machine: as much again is left
    // for the first probe, and no search ends in less than twice that time.
    const find = ['--find', 'request-rate', '--request-rate', '8', '--slo', 'error_ratio<=5%', '--run-id', 'cap'];
    const { code, stdout } = await llmbench(...args(server.url, ...find, '--max-seconds', String(seconds)));
    const { end, used, probes, holds } = await searchFile('cap');
    expect({ code, end }).toEqual({ code: 0, end: 'budget' });
    expect(stdout).toContain('ended by the budget: holds up to ');
    expect(used.seconds).toBeLessThanOrEqual(seconds);
    // What the runs say themselves, from the first request of the first probe to the end of the last.
    const runs = await Promise.all(
      (await runNames()).map(
        async (id) => JSON.parse(await readFile(join(runsDir, id, 'run.json'), 'utf8')) as RunFile,
      ),
    );
    const times = (of: 'start' | 'end'): number[] => runs.map((run) => Date.parse(run[of] ?? ''));
    expect((Math.max(...times('end')) - Math.min(...times('start'))) / 1000).toBeLessThanOrEqual(seconds);
    // The kept response is one that finished probes found.
    expect(holds).toBe(Math.max(...probes.filter(({ verdict }) => verdict === 'holds').map(({ load }) => load)));
  } finally {
    await server.close();
  }
});

describe('a fast server', () => {
  let server: RunningSimulator;
  beforeEach(async () => {
    server = await startSimulator({ system: 'sglang', engine: { stepBaseMilliseconds: 2, maxNumSeqs: 256 } });
  });
  afterEach(() => server.close());

  /** Requests that the server has received. */
  const received = async (): Promise<number> => {
    const truth = (await (await fetch(server.truthUrl)).json()) as { requests: readonly unknown[] };
    return truth.requests.length;
  };
  const find = ['--find', 'concurrency', '--slo', 'ttft:p95<10s', '--find-max', '8', '--run-id', 'cap'];
  /**
   * Too few to confirm the highest load, twice 119 requests, and enough to decide the lowest one also on a busy machine, where
   * neighboring requests resemble each other.
   */
  const budget = 220;

  test('a budget is never exceeded; a larger one continues without repeating probes', async () => {
    const first = await llmbench(...args(server.url, ...find, '--max-requests', String(budget)));
    expect(first.code).toBe(0);
    expect(first.stdout).toContain('ended by the budget: holds up to concurrency');
    expect(first.stderr).toContain('to continue it with a larger budget: llmbench run');
    expect(await received()).toBeLessThanOrEqual(budget);
    const before = await searchFile('cap');
    expect(before.probes.length).toBeGreaterThan(0);

    const second = await llmbench(...args(server.url, ...find, '--max-requests', '5000'));
    expect(second.code).toBe(0);
    expect(second.stdout).toContain('holds up to concurrency 8 (95 % confidence), the highest load of the search');
    const after = await searchFile('cap');
    expect(after.probes.slice(0, before.probes.length)).toEqual(before.probes);
    expect(after.used.requests).toBeGreaterThanOrEqual(await received());
  });

  test('output tokens and time are budgets too', async () => {
    const tokens = await llmbench(...args(server.url, ...find, '--max-output-tokens-total', String(8 * budget)));
    expect(tokens.stdout).toContain('ended by the budget');
    expect((await searchFile('cap')).used.output_tokens).toBeLessThanOrEqual(8 * budget);
    const time = await llmbench(...args(server.url, ...find, '--run-id', 'time', '--max-seconds', '4'));
    expect(time.stdout).toContain('ended by the budget');
  });

  test('Ctrl-C keeps what is known: exit 130, and the same command continues', async () => {
    const search = start(args(server.url, ...find));
    await search.said('probe cap-s1-r0');
    search.child.kill('SIGINT');
    const { code, stdout, stderr } = await search.ended;
    expect(code).toBe(130);
    expect(stdout).toContain('interrupted: holds up to concurrency 1');
    expect(stderr).toContain('to continue it: llmbench run');
    expect(await searchFile('cap')).toMatchObject({ end: 'interrupted', holds: 1, fails: null });
    const again = await llmbench(...args(server.url, ...find, '--max-requests', String(budget)));
    expect(again.stderr).toContain('1 probes are finished');
    expect(again.code).toBe(0);
  });

  test('a search of the same name with other objectives is refused', async () => {
    await llmbench(...args(server.url, ...find, '--max-requests', String(budget)));
    const other = ['--find', 'concurrency', '--slo', 'ttft:p95<9s', '--run-id', 'cap'];
    const { code, stderr } = await llmbench(...args(server.url, ...other));
    expect(code).toBe(2);
    expect(stderr).toContain('--run-id cap is a search with');
  });

  test('no load holds: exit 99', async () => {
    const { code, stdout } = await llmbench(...args(server.url, '--find', 'concurrency', '--slo', 'ttft:p50<0.1ms'));
    expect(code).toBe(99);
    expect(stdout).toContain('fails from concurrency 1, the lowest load of the search');
  });
});

test('a server that is not there: exit 1, one reason, no table and no file', async () => {
  const { code, stdout, stderr } = await llmbench(
    ...args('http://127.0.0.1:9', '--find', 'concurrency', '--slo', 'ttft:p95<1s'),
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('connection refused');
  expect(await runNames()).toEqual([]);
  expect(await readdir(runsDir)).not.toContain('scenarios');
});

test('what is refused is so before the first request: exit 2, one line', async () => {
  const { code, stdout, stderr } = await llmbench(...args('http://127.0.0.1:9', '--find', 'concurrency'));
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr.trim().split('\n').at(-1)).toContain('--find requires --slo');
  expect(await readdir(runsDir)).toEqual([]);
});
