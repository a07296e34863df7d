import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { addRun } from '../../store/changes/add-run.ts';
import { addedResult, addedRun } from '../../store/fixtures/added-run.ts';
import { openStore } from '../../store/run-store.ts';
import { run } from './backfill.ts';
import { ExitCode } from '../failure.ts';

let directory: string;
let status: number;
let text: string;
const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(status, { 'content-type': 'text/plain' }).end(text));
});
let url: string;

beforeEach(async () => {
  text = 'no';
  directory = await mkdtemp(join(tmpdir(), 'llmbench-backfill-'));
  const { store } = await openStore(directory);
  const [start, end] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:10.000Z'];
  const added = addedRun('r1', { start, end, phases: [{ phase: 'measure', start, end }] });
  await addRun(store, { ...added, result: { ...addedResult(added.run), window: { start, end, seconds: 10 } } });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});

afterEach(async () => {
  jest.restoreAllMocks();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
  await rm(directory, { recursive: true });
});

/** What the command prints as JSON, and its exit code. */
async function backfilled(...argv: string[]): Promise<{ code: number; done: Record<string, unknown> }> {
  let out = '';
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
  jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const code = await run(['--all', '--runs-dir', directory, '--json', ...argv]);
  return { code, done: JSON.parse(out) as Record<string, unknown> };
}

test('samples that the receiver takes: exit code 0', async () => {
  status = 204;
  const { code, done } = await backfilled('--remote-write-url', `${url}/api/v1/write`, '--remote-write-protocol', '1');
  expect(done).toMatchObject({ runs: 1, samples_dropped: 0, samples_waiting: 0 });
  expect(code).toBe(ExitCode.done);
});

test('samples that the receiver does not take: exit code 1', async () => {
  status = 400;
  text = 'out of bounds';
  const { code, done } = await backfilled('--remote-write-url', `${url}/api/v1/write`, '--remote-write-protocol', '1');
  expect(done['samples_dropped']).toBeGreaterThan(0);
  expect(code).toBe(ExitCode.failed);
});

test('a receiver that takes nothing at all: the samples wait, exit code 1', async () => {
  status = 400;
  const { code, done } = await backfilled('--remote-write-url', `${url}/api/v1/write`, '--remote-write-protocol', '1');
  expect(done).toMatchObject({ samples_dropped: 0, samples_waiting: expect.any(Number) });
  expect(done['samples_waiting']).toBeGreaterThan(0);
  expect(code).toBe(ExitCode.failed);
});

test('an overloaded receiver is reported once while it is tried again', async () => {
  status = 503;
  text = 'busy';
  let said = '';
  jest.spyOn(process.stderr, 'write').mockImplementation((line) => {
    said += String(line);
    // The receiver recovers when the user has read the line.
    if (said.includes('trying again')) status = 204;
    return true;
  });
  const to = ['--remote-write-url', `${url}/api/v1/write`, '--remote-write-protocol', '1'];
  expect(await run(['--all', '--runs-dir', directory, ...to])).toBe(ExitCode.done);
  expect(said).toMatch(
    /^remote write: HTTP 503: busy; trying again for up to (2\d|30) s\n\d[\d,]* samples of 1 run sent\n$/,
  );
}, 60_000);

test('a run that Grafana does not take: exit code 1, and why', async () => {
  status = 403;
  const tokenFile = join(directory, 'token');
  await writeFile(tokenFile, 'secret');
  const { code, done } = await backfilled('--grafana-url', url, '--grafana-token-file', tokenFile);
  expect(done['not_annotated']).toEqual({ r1: expect.stringContaining('403') });
  expect(code).toBe(ExitCode.failed);
});

test('without a run nothing is written: the file stays, exit code 1 and why', async () => {
  const output = join(directory, 'page.om');
  await writeFile(output, 'of before');
  let said = '';
  jest.spyOn(process.stderr, 'write').mockImplementation((line) => {
    said += String(line);
    return true;
  });
  const empty = join(directory, 'empty');
  expect(await run(['--all', '--runs-dir', empty, '--output', output])).toBe(ExitCode.failed);
  expect(said).toBe(`nothing to write: no finished run with a known start time in ${empty}\n`);
  expect(await readFile(output, 'utf8')).toBe('of before');
});

test.each([
  [['--all', 'r1', '--output', 'x'], '--all and names of runs are mutually exclusive'],
  [['--all', '--output', ''], '--output is empty: a file, a directory or - is required'],
  [['--all', '--output', '/nowhere/x.om'], '--output /nowhere/x.om cannot be written: it does not exist (ENOENT)'],
])('%j', async (argv, message) => {
  await expect(run(['--runs-dir', directory, ...argv])).rejects.toThrow(message);
});
