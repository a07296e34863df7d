import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ResultFile } from '../core/run/result.ts';
import { startSimulator, type RunningSimulator } from '../simulator/main.ts';
import { announced, start, type Ended, type Started } from './llmbench.ts';

/** Far longer than the client needs to store a run, so that it has to wait. */
const SCRAPE_INTERVAL_MS = 3_000;
const RUNS = ['p-01a', 'p-01b', 'p-02b', 'p-02a'];
let directory: string;
let runsDir: string;
let serve: Started;
let address: string;
let ended: Ended;
const servers: RunningSimulator[] = [];
/** Every response of a live page, by its address. */
const pages: { readonly address: string; readonly text: string }[] = [];
/** Runs that `serve` exposed while a live page had them as well. */
const publishedTwice = new Set<string>();

/** Asks for the live runs and scrapes each of them, as Prometheus does, until `end`. */
async function scrape(end: Promise<unknown>): Promise<void> {
  const until = new AbortController();
  void end.finally(() => until.abort());
  while (!until.signal.aborted) {
    const groups = (await (await fetch(`${address}/sd`)).json()) as { targets: string[]; labels: { job: string } }[];
    for (const { targets, labels } of groups) {
      if (labels.job !== 'llmbench-run') continue;
      const url = `http://${targets[0]}/metrics`;
      // The page closes with the last run.
      const text = await fetch(url).then(
        (response) => response.text(),
        () => '',
      );
      if (text !== '') pages.push({ address: url, text });
    }
    await sleep(SCRAPE_INTERVAL_MS);
  }
}

/** Compares what `serve` exposes with the runs that are discovered, until `end`. */
async function watchPublishers(end: Promise<unknown>): Promise<void> {
  const until = new AbortController();
  void end.finally(() => until.abort());
  const served = async (): Promise<readonly string[]> =>
    (await readdir(join(runsDir, '.unfinished'))).flatMap((name) => /^(.+)\.page~/.exec(name)?.[1] ?? []);
  while (!until.signal.aborted) {
    const before = await served();
    const text = await (await fetch(`${address}/metrics`)).text();
    const after = await served();
    for (const id of before) if (after.includes(id) && text.includes(`run_id="${id}"`)) publishedTwice.add(id);
    await sleep(50);
  }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-ab-serve-'));
  runsDir = join(directory, 'runs');
  for (let i = 0; i < 2; i++) servers.push(await startSimulator({ system: 'vllm', host: '127.0.0.1', port: 0 }));
  serve = start(['serve', '--runs-dir', runsDir, '--port', '0', '--json']);
  address = (await announced(serve)).url;
  const sides = ['--a', servers[0]?.url ?? '', '--b', servers[1]?.url ?? '', '--runs-dir', runsDir, '--id', 'p'];
  const load = ['--model', 'sim-model', '--request-count', '20', '--isl', '16', '--osl', '1', '--concurrency', '2'];
  const ab = start(['ab', ...sides, ...load, '--pairs', '2', '--repeat-pairs', '0', '--json']);
  await Promise.all([scrape(ab.ended), watchPublishers(ab.ended)]);
  ended = await ab.ended;
});

afterAll(async () => {
  serve.child.kill('SIGTERM');
  await serve.ended;
  await Promise.all(servers.map((server) => server.close()));
  await rm(directory, { recursive: true });
});

test('the comparison waits for its scrapers once, after the last run, and reports it', () => {
  expect([ended.code, ended.code === 0 ? '' : ended.stderr]).toEqual([0, '']);
  // On a machine that is slow enough the scrapers have the final values before anything has to wait for them.
  const [beforeWait = '', ...waits] = ended.stderr.split('waiting until scrapers');
  expect(waits.length).toBeLessThanOrEqual(1);
  expect(beforeWait).toContain('A: run p-02a');
  expect(ended.stderr).not.toMatch(/Prometheus may lack|nothing scraped/);
});

test('all runs are on one page, and the final values of each were fetched twice at least', async () => {
  expect(new Set(pages.map((page) => page.address)).size).toBe(1);
  const finals = await Promise.all(
    RUNS.map(async (id) => {
      const { requests } = JSON.parse(await readFile(join(runsDir, id, 'result.json'), 'utf8')) as ResultFile;
      const last = new RegExp(
        `^llmbench_requests_total\\{(?=.*run_id="${id}")(?=.*phase="measure").*"ok".*\\} ${requests.ok}$`,
        'm',
      );
      return pages.filter(({ text }) => last.test(text)).length >= 2;
    }),
  );
  expect(finals).toEqual(RUNS.map(() => true));
});

test('a run has one publisher at a time, and nothing is left behind', async () => {
  expect([...publishedTwice]).toEqual([]);
  expect(await readdir(join(runsDir, '.unfinished'))).toEqual([]);
  const text = await (await fetch(`${address}/metrics`)).text();
  expect(RUNS.filter((id) => text.includes(`run_id="${id}"`))).toEqual(RUNS);
});
