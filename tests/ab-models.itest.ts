import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { RunFile } from '../core/run/run.ts';
import { startSimulator, type RunningSimulator } from '../simulator/main.ts';
import { llmbench } from './llmbench.ts';

let runsDir: string;
const servers: RunningSimulator[] = [];

beforeAll(async () => {
  runsDir = await mkdtemp(join(tmpdir(), 'llmbench-ab-models-'));
  for (const model of ['m', 'm', 'm-fp8'])
    servers.push(await startSimulator({ system: 'vllm', host: '127.0.0.1', port: 0, model }));
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await rm(runsDir, { recursive: true });
});

const ab = (b: number, ...argv: readonly string[]) =>
  llmbench(
    ...['ab', '--a', servers[0]?.url ?? '', '--b', servers[b]?.url ?? '', '--runs-dir', runsDir, '--pairs', '1'],
    ...['--request-count', '5', '--osl', '1', '--isl', '16', '--json', ...argv],
  );

const runFile = async (id: string): Promise<RunFile> =>
  JSON.parse(await readFile(join(runsDir, id, 'run.json'), 'utf8')) as RunFile;

test('without --model, ab uses the model that both servers list', async () => {
  const { stderr, stdout } = await ab(1, '--id', 'same');
  expect(stderr).toMatch(/^--model is not given: using m, the only model that the server lists\ncomparison same: /);
  expect(JSON.parse(stdout)).toMatchObject({ runs: { a: ['same-01a'], b: ['same-01b'] } });
  const [a, b] = await Promise.all([runFile('same-01a'), runFile('same-01b')]);
  expect([a.comparison_key.model, b.comparison_key.model]).toEqual(['m', 'm']);
  expect(a.fingerprint).toBe(b.fingerprint);
});

test('a server that does not respond is named as that of --b', async () => {
  const urls = ['--a', servers[0]?.url ?? '', '--b', 'http://127.0.0.1:1', '--runs-dir', runsDir];
  const { code, stderr } = await llmbench('ab', ...urls, '--request-count', '5');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^llmbench ab: http:\/\/127\.0\.0\.1:1: connection refused\. .* host and port of --b$/m);
});

test('servers with different models are refused before the first request; named, they are compared', async () => {
  const refused = await ab(2, '--id', 'two');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(
    /^.*A serves m, B serves m-fp8: to compare different models, pass --a-model m --b-model m-fp8$/m,
  );
  await expect(runFile('two-01a')).rejects.toThrow('ENOENT');
  const { stderr } = await ab(2, '--id', 'two', '--b-model', 'm-fp8');
  expect(stderr).toContain('options that differ on purpose: --model m-fp8');
  const [a, b] = await Promise.all([runFile('two-01a'), runFile('two-01b')]);
  expect([a.comparison_key.model, b.comparison_key.model]).toEqual(['m', 'm-fp8']);
});
