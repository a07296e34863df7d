import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { llmbench, start, type Ended } from './llmbench.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-log-'));
});
afterAll(() => rm(folder, { recursive: true }));

interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly msg: string;
  readonly url?: string;
}

const linesOf = ({ stderr }: Ended): LogLine[] =>
  stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LogLine);

test('JSON lines from start to stop: readiness, a damaged run, the end', async () => {
  const runsDir = join(folder, 'runs');
  await mkdir(join(runsDir, 'damaged'), { recursive: true });
  await writeFile(join(runsDir, 'damaged', 'run.json'), '{');
  const serve = start(['serve', '--port', '0', '--runs-dir', runsDir, '--log-format', 'json', '--host', '0.0.0.0']);
  const ready = serve.said('serving the runs in');
  const damaged = serve.said('damaged');
  await Promise.all([ready, damaged]);
  serve.child.kill('SIGTERM');
  const ended = await serve.ended;
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 0, stdout: '' });
  const lines = linesOf(ended);
  for (const { time } of lines) expect(new Date(time).toISOString()).toBe(time);
  const serving = lines.find(({ msg }) => msg.startsWith('serving'));
  expect(serving?.level).toBe('INFO');
  expect(serving?.url).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
  expect(lines.find(({ msg }) => msg.includes('damaged'))?.level).toBe('WARN');
  expect(lines.find(({ msg }) => msg.includes('anyone who can reach this address'))?.level).toBe('WARN');
  expect(lines.at(-1)).toMatchObject({ level: 'INFO', msg: 'stopping' });
});

test('SIGHUP does not end a service, and a directory that did not exist is reported', async () => {
  const runsDir = join(folder, 'mistyped');
  const serve = start(['serve', '--port', '0', '--runs-dir', runsDir]);
  await serve.said('serving the runs in');
  const reloaded = serve.said('SIGHUP: ');
  serve.child.kill('SIGHUP');
  await reloaded;
  serve.child.kill('SIGTERM');
  const { code, stdout, stderr } = await serve.ended;
  expect(code).toBe(0);
  expect(`${stdout}${stderr}`).toContain(`${runsDir} did not exist and was created: it has no runs`);
});

test('the reason why a service cannot start is a JSON line as well', async () => {
  const file = join(folder, 'token');
  await writeFile(file, 'short');
  await chmod(file, 0o600);
  const ended = await llmbench('serve', '--port', '0', '--log-format', 'json', '--api-token-file', file);
  expect(ended.code).toBe(2);
  const [line, ...more] = linesOf(ended);
  expect(more).toEqual([]);
  expect(line?.level).toBe('ERROR');
  expect(line?.msg).toMatch(/--api-token-file .* at least 16/);
});
