import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ResultFile } from '../core/run/result.ts';
import type { RunFile } from '../core/run/run.ts';
import { until } from '../core/testing/until.ts';
import { startSimulator, type RunningSimulator } from '../simulator/main.ts';
import { start, type Started } from './llmbench.ts';

/** Sends requests and writes what `vllm bench serve --save-result` writes; the time has no zone. */
const TOOL = `
import { writeFileSync, existsSync } from 'node:fs';
const [url, requests, file, waitFor] = process.argv.slice(2);
const date = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString().replace(/[-:]/g, '');
for (let i = 0; i < Number(requests); i++)
  await (await fetch(url + '/v1/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-model', prompt: 'hello', max_tokens: 4, stream: true }),
  })).text();
while (waitFor && !existsSync(waitFor)) await new Promise((resolve) => setTimeout(resolve, 20));
console.log('the output of the tool');
const completed = Number(requests);
writeFileSync(file, JSON.stringify({
  date: date.slice(0, 8) + '-' + date.slice(9, 15), endpoint_type: 'openai', backend: 'openai', label: null,
  model_id: 'sim-model', tokenizer_id: 'tiny', num_prompts: completed, request_rate: 'inf', burstiness: 1,
  max_concurrency: 1, duration: 1, completed, failed: 0, total_input_tokens: completed, total_output_tokens: 4 * completed,
  request_throughput: completed, request_goodput: null, output_throughput: 4 * completed,
  total_token_throughput: 5 * completed, mean_ttft_ms: 60, median_ttft_ms: 60, std_ttft_ms: 1, p99_ttft_ms: 80,
}));
`;

let directory: string;
let runs: string;
let server: RunningSimulator;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-watch-'));
  runs = join(directory, 'runs');
  await writeFile(join(directory, 'tool.mjs'), TOOL);
  server = await startSimulator({ system: 'vllm', host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

function watch(options: readonly string[], command: readonly string[], cwd = directory): Started {
  const common = ['--runs-dir', runs, '--server-metrics', server.url, '--interval', '0.2'];
  return start(['watch', ...common, ...options, '--', ...command], { cwd });
}

const tool = (requests: number, file: string, ...more: readonly string[]): string[] => [
  process.execPath,
  join(directory, 'tool.mjs'),
  server.url,
  String(requests),
  file,
  ...more,
];

const runIdOf = (stderr: string): string => /^llmbench: run (\S+) of scenario/m.exec(stderr)?.[1] ?? '';

async function stored(runId: string): Promise<{ run: RunFile; result: ResultFile }> {
  const read = async (name: string): Promise<unknown> => JSON.parse(await readFile(join(runs, runId, name), 'utf8'));
  return { run: (await read('run.json')) as RunFile, result: (await read('result.json')) as ResultFile };
}

/** Increase of a histogram's count on the servers during the run. */
async function serverCount(runId: string, family: string): Promise<number | undefined> {
  const text = await readFile(join(runs, runId, 'servers.json'), 'utf8');
  const { series } = JSON.parse(text) as { series: { family: string; statistics: { count?: number } }[] };
  return series.find((each) => each.family === family)?.statistics.count;
}

test('the run of a command is live while it lasts, and has its results and the counts of the servers', async () => {
  const gate = join(directory, 'gate');
  const options = ['--metrics-port', '0', '--no-await-scrape', '--linger', 'no', '--scenario', 'nightly'];
  const watched = watch(options, tool(7, 'result.json', gate));
  await watched.said('of scenario nightly');
  const unfinished = join(runs, '.unfinished');
  const live = await until(async () => {
    const [id = ''] = (await readdir(unfinished)).filter((name) => name.startsWith('2'));
    const { process } = JSON.parse(await readFile(join(unfinished, id, 'run.json'), 'utf8')) as RunFile;
    const page = await (await fetch(process?.metrics_url ?? '')).text();
    return page.includes('phase="measure"} 1\n') ? page : null;
  });
  expect(live).toContain('scenario="nightly"');
  // What the client measures is not known: it is absent, not 0.
  expect(live).not.toContain('llmbench_requests_total');
  expect(live).not.toContain('llmbench_time_to_first_token');
  await writeFile(gate, '');
  const { code, stdout, stderr } = await watched.ended;
  expect([code, stdout]).toEqual([0, 'the output of the tool\n']);
  const { run, result } = await stored(runIdOf(stderr));
  expect(run).toMatchObject({ scenario: 'nightly', tool: { name: 'vllm' }, source: { files: ['result.json'] } });
  expect(run.target).toMatchObject({ system: 'vllm', origin: server.url });
  expect(result.requests.ok).toBe(7);
  expect(await serverCount(run.run_id, 'vllm:e2e_request_latency_seconds')).toBe(7);
  // The time zone is that of this machine, so that the start is within the command's time.
  expect(Math.abs(Date.parse(run.start ?? '') - Date.now())).toBeLessThan(600_000);
  expect(await readdir(join(runs, '.unfinished'))).toEqual([]);
});

test('files that were there before are not results of the command', async () => {
  const cwd = join(directory, 'used');
  await mkdir(cwd);
  await writeFile(join(cwd, 'old.json'), await readFile(join(directory, 'result.json')));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const { stderr } = await watch(['--linger', 'no'], tool(3, 'new.json'), cwd).ended;
  const { run, result } = await stored(runIdOf(stderr));
  expect(run.source?.files).toEqual(['new.json']);
  expect(result.requests.ok).toBe(3);
});

test('a command without a result that is known is a run of its servers alone, and --check fails', async () => {
  const command = ['sh', '-c', 'echo hello > note.txt'];
  const { code, stderr } = await watch(['--check', '--linger', 'no'], command, await mkdtemp(join(directory, 'c-')))
    .ended;
  expect(stderr).toContain('has no measurements of a client');
  expect(code).toBe(1);
  const { run, result } = await stored(runIdOf(stderr));
  expect(run).toMatchObject({ status: 'completed', scenario: 'sh' });
  // Missing is not zero.
  expect(result.requests).toEqual({ ok: null, error: null, timeout: null, cancelled: null });
  expect(result.servers?.targets).toHaveLength(1);
});

test('exit codes and signals of the command are passed on', async () => {
  const failed = await watch(['--linger', 'no'], ['sh', '-c', 'exit 7']).ended;
  expect(failed.code).toBe(7);
  expect((await stored(runIdOf(failed.stderr))).run).toMatchObject({
    status: 'aborted',
    failure: 'sh ended with exit code 7',
  });
  const trapped = watch(
    ['--linger', 'no'],
    ['sh', '-c', 'trap "echo ending; exit 9" TERM; echo ready; while :; do sleep 0.1; done'],
  );
  await trapped.said('ready');
  trapped.child.kill('SIGTERM');
  expect(await trapped.ended).toMatchObject({ code: 9, stdout: 'ready\nending\n' });
});

test('a command that cannot be started leaves no run', async () => {
  const before = await readdir(runs);
  const { code, stderr } = await watch(['--linger', 'no'], ['no-such-program']).ended;
  expect([code, stderr.split('\n').at(-2)]).toEqual([
    2,
    'llmbench watch: cannot start no-such-program: no program of this name was found',
  ]);
  expect(await readdir(runs)).toEqual(before);
  expect(await readdir(join(runs, '.unfinished'))).toEqual([]);
});
