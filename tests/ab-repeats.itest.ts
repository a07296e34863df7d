import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { RunFile } from '../core/run/run.ts';
import { startSimulator, type RunningSimulator } from '../simulator/main.ts';
import { start } from './llmbench.ts';
import { until } from '../core/testing/until.ts';

let directory: string;
let runsDir: string;
const servers: RunningSimulator[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-ab-'));
  runsDir = join(directory, 'runs');
  for (let i = 0; i < 2; i++) servers.push(await startSimulator({ system: 'vllm', host: '127.0.0.1', port: 0 }));
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await rm(directory, { recursive: true });
});

// One output token: no inter-token latency by which a busy machine would saturate the client.
const LOAD = ['--model', 'sim-model', '--request-count', '30', '--isl', '16', '--osl', '1', '--concurrency', '2'];
const ab = (...argv: readonly string[]) =>
  start(['ab', '--a', servers[0]?.url ?? '', '--b', servers[1]?.url ?? '', ...LOAD, '--runs-dir', runsDir, ...argv]);

interface Printed {
  readonly runs: { readonly a: readonly string[]; readonly b: readonly string[] };
  readonly next_command: string | null;
}

const runFile = async (id: string): Promise<RunFile> =>
  JSON.parse(await readFile(join(runsDir, id, 'run.json'), 'utf8')) as RunFile;

/** Sends requests to server A until `end`, as other users would. */
async function useServer(end: Promise<unknown>): Promise<void> {
  const until = new AbortController();
  void end.finally(() => until.abort());
  while (!until.signal.aborted) {
    const body = JSON.stringify({ model: 'sim-model', messages: [{ role: 'user', content: 'hello' }], max_tokens: 1 });
    const response = await fetch(`${servers[0]?.url ?? ''}/v1/chat/completions`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body },
    });
    await response.text();
  }
}

test('a pair whose servers others used is measured again with new texts, and its runs are kept and marked', async () => {
  const process = ab('--id', 'r', '--pairs', '1', '--json');
  await process.said('pair 1 of 1, A: run r-01a');
  await useServer(process.said('pair 1 of 1, B: run r-01b'));
  const { code, stdout, stderr } = await process.ended;
  expect([code, stderr]).toEqual([0, expect.stringContaining('pair 1 of 1, B: run r-01b-2')]);
  expect(stderr).toContain(
    'pair 1: Others used the measured servers during 1 run. The pair is measured again (repeat 1 of at most 3); ' +
      'its runs are kept with the tag discarded-pair.\n',
  );
  expect((JSON.parse(stdout) as Printed).runs).toEqual({ a: ['r-01a-2'], b: ['r-01b-2'] });
  const files = await Promise.all(['r-01a', 'r-01b', 'r-01a-2', 'r-01b-2'].map(runFile));
  expect(files.map(({ tags }) => tags)).toEqual([['discarded-pair'], ['discarded-pair'], [], []]);
  const [first, b, again, againB] = files.map(({ dataset }) => dataset?.prompt_variant);
  expect([b, againB]).toEqual([first, again]);
  expect(again).not.toBe(first);
});

/** Requests that server A has answered. */
async function answered(): Promise<number> {
  const page = await (await fetch(`${servers[0]?.url ?? ''}/metrics`)).text();
  return [...page.matchAll(/^vllm:request_success_total\{.*\} (\S+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
}

(existsSync('/proc/self/task') ? test : test.skip)(
  'a pair whose client could not keep up is measured again',
  async () => {
    const process = ab(
      '--id',
      't',
      '--pairs',
      '1',
      '--osl',
      '4',
      '--no-server-metrics',
      '--repeat-pairs',
      '1',
      '--json',
    );
    const before = await answered();
    await process.said('pair 1 of 1, A: run t-01a');
    await until(async () => (await answered()) >= before + 5);
    // A suspended client: far longer than the rest of its run.
    const { pid } = process.child;
    const child = Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim());
    globalThis.process.kill(child, 'SIGSTOP');
    await sleep(4_000);
    globalThis.process.kill(child, 'SIGCONT');
    const { stdout, stderr } = await process.ended;
    expect(stderr).toMatch(
      /pair 1: The client itself was saturated in [12] runs?\. The pair is measured again \(repeat 1 /,
    );
    expect((JSON.parse(stdout) as Printed).runs).toEqual({ a: ['t-01a-2'], b: ['t-01b-2'] });
  },
);

test('without repeats left the pair stays, and the verdict is undecided', async () => {
  const process = ab('--id', 's', '--pairs', '1', '--repeat-pairs', '0', '--json');
  await process.said('pair 1 of 1, A: run s-01a');
  await useServer(process.said('pair 1 of 1, B: run s-01b'));
  const { stdout, stderr } = await process.ended;
  expect(stderr).toContain('The pair is not measured again: --repeat-pairs is 0.\n');
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'undecided', runs: { a: ['s-01a'], b: ['s-01b'] } });
  // The same command with repeats measures what was spoiled.
  const again = await ab('--id', 's', '--pairs', '1', '--json').ended;
  expect((JSON.parse(again.stdout) as Printed).runs).toEqual({ a: ['s-01a-2'], b: ['s-01b-2'] });
});

test('the proposed command continues the comparison: its finished pairs are used', async () => {
  const sides = ['--b-extra-inputs', 'seed:1', '--repeat-pairs', '0'];
  const { stdout } = await ab('--pairs=1', ...sides, '--gate', 'time_to_first_token:p50', '--json').ended;
  const { runs, next_command } = JSON.parse(stdout) as Printed;
  const id = runs.a[0]?.replace(/-01a$/, '') ?? '';
  expect(next_command).toMatch(
    new RegExp(`^llmbench ab --a http://\\S+ .*--b-extra-inputs seed:1 .*--json --pairs 6 --id ${id}$`),
  );
  const words = (next_command ?? '').replace('--pairs 6', '--pairs 2').split(' ').slice(1);
  const next = await start(words).ended;
  expect(next.stderr).not.toContain('pair 1 of 2');
  expect((JSON.parse(next.stdout) as Printed).runs.a).toEqual([`${id}-01a`, `${id}-02a`]);
});
