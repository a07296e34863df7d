import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readBaseline } from '../../judge/baseline.ts';
import { storeJudgedRun } from '../../judge/testing/judged-run.ts';
import { RunList, RunLibrary } from '../../publish/views/run-library.ts';
import { openStore, type RunStore } from '../../store/run-store.ts';
import { tokenAccess } from '../access/access.ts';
import { hostCheck } from '../allowed-host.ts';
import { listen, type Listening } from '../listen.ts';
import { createApi } from './api.ts';
import { complaints, PROBLEM } from './fixtures/openapi.ts';

const TOKEN = 'a-token-of-some-length';

let store: RunStore;
let server: Listening;
const problems: string[] = [];

beforeEach(async () => {
  ({ store } = await openStore(await mkdtemp(join(tmpdir(), 'llmbench-baseline-'))));
  for (let i = 0; i < 3; i++) await storeJudgedRun(store, `run-${i}`, i, { ttft: 0.1 });
  await storeJudgedRun(store, 'other', 5, { ttft: 1, scenario: 'weekly' });
  server = await serving(true);
});

afterEach(async () => {
  await server.close();
  await rm(store.directory, { recursive: true });
  expect(problems).toEqual([]);
});

function serving(allowBaselineChanges: boolean): Promise<Listening> {
  const problem = (line: string): void => void problems.push(line);
  const api = createApi({
    library: new RunLibrary(store, new RunList(store), problem),
    ...{ version: '0.1.0', access: tokenAccess({ token: TOKEN, allowBaselineChanges }), problem },
    hostCheck: hostCheck({ host: '127.0.0.1', allowedHosts: [] }),
  });
  return listen(api, { host: '127.0.0.1', port: 0 });
}

const AUTHORIZED = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const ACCEPT = { action: 'accept', run_ids: ['run-0', 'run-1'], reason: 'first baseline', author: 'ana' };

async function post(
  body: unknown,
  headers: Record<string, string> = AUTHORIZED,
  at: Listening = server,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${at.url}/scenarios/nightly/baseline`, { method: 'POST', headers, body: text });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test.each([true, false])('the status says whether changes are allowed: %p', async (allowed) => {
  const other = await serving(allowed);
  const response = await fetch(`${other.url}/status`);
  expect(await response.json()).toMatchObject({ allows_baseline_changes: allowed });
  await other.close();
});

describe('POST /scenarios/{name}/baseline', () => {
  test('accept, pin, unpin and drop append an entry with author and reason', async () => {
    const accepted = await post(ACCEPT);
    expect(accepted).toEqual({
      status: 200,
      body: { scenario: 'nightly', accepted: ['run-0', 'run-1'], pinned: [], dropped: [] },
    });
    expect(complaints('/components/schemas/ChangedBaseline', accepted.body)).toEqual([]);
    expect((await post({ ...ACCEPT, action: 'pin', run_ids: ['run-2', 'run-2'] })).body).toMatchObject({ pinned: ['run-2'] }); // prettier-ignore
    expect((await post({ ...ACCEPT, action: 'unpin', run_ids: ['run-2'] })).body).toMatchObject({ pinned: [] });
    const dropped = await post({ ...ACCEPT, action: 'drop', run_ids: ['run-1'], reason: 'maintenance' });
    expect(dropped.body).toMatchObject({ accepted: ['run-0'], dropped: ['run-1'] });
    const { entries } = await readBaseline(store.directory, 'nightly');
    expect(entries.map(({ action, author, reason }) => [action, author, reason])).toEqual([
      ['accept', 'ana', 'first baseline'],
      ['pin', 'ana', 'first baseline'],
      ['unpin', 'ana', 'first baseline'],
      ['drop', 'ana', 'maintenance'],
    ]);
  });

  test('a run that was deleted can still be dropped', async () => {
    await post(ACCEPT);
    await rm(store.pathOf('run-0'), { recursive: true });
    const { status, body } = await post({ ...ACCEPT, action: 'drop', run_ids: ['run-0'] });
    expect([status, body['accepted']]).toEqual([200, ['run-1']]);
  });

  test('is not allowed unless it was switched on, also with the token', async () => {
    const off = await serving(false);
    const { status, body } = await post(ACCEPT, AUTHORIZED, off);
    await off.close();
    expect([status, body['detail']]).toEqual([403, expect.stringContaining('--allow-baseline-changes')]);
    expect((await readBaseline(store.directory, 'nightly')).entries).toEqual([]);
  });

  test.each([
    ['without a token, also over the loopback address', { 'content-type': 'application/json' }, 401],
    ['with a wrong token', { ...AUTHORIZED, authorization: 'Bearer another-token-of-length' }, 401],
    ['from a page of another origin', { ...AUTHORIZED, origin: 'http://evil.example' }, 403],
    ['as a form', { ...AUTHORIZED, 'content-type': 'application/x-www-form-urlencoded' }, 415],
  ])('is refused %s', async (_, headers, expected) => {
    const { status, body } = await post(ACCEPT, headers);
    expect(status).toBe(expected);
    expect(complaints(PROBLEM, body)).toEqual([]);
    expect((await readBaseline(store.directory, 'nightly')).entries).toEqual([]);
  });

  test.each([
    ['{', 400, 'the body is not JSON'],
    ['[]', 400, 'the body must be a JSON object'],
    [`{"more": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 400, 'more is not a parameter here'],
    [{ ...ACCEPT, action: 'forget' }, 400, "action is 'forget' and must be one of accept, drop, pin, unpin"],
    [{ ...ACCEPT, run_ids: [] }, 400, "run_ids is '[]'"],
    [{ ...ACCEPT, run_ids: ['../x'] }, 400, 'run_ids is'],
    [{ ...ACCEPT, reason: '  ' }, 400, "reason is '  '"],
    [{ ...ACCEPT, author: undefined }, 400, 'author is missing'],
    [{ ...ACCEPT, more: 1 }, 400, 'more is not a parameter here'],
    [{ ...ACCEPT, run_ids: ['absent'] }, 404, 'run absent does not exist'],
    [{ ...ACCEPT, run_ids: ['other'] }, 400, 'other is of scenario weekly, not of nightly'],
    [{ ...ACCEPT, reason: 'x'.repeat(200_000) }, 413, 'the body is larger than'],
  ])('%j is %d: %s', async (change, expected, detail) => {
    const { status, body } = await post(change);
    expect([status, body['detail']]).toEqual([expected, expect.stringContaining(detail)]);
    expect(complaints(PROBLEM, body)).toEqual([]);
    expect((await readBaseline(store.directory, 'nightly')).entries).toEqual([]);
  });

  test.each(['gzip', 'deflate', 'br', 'zstd'])('a body that is not %s is refused', async (encoding) => {
    const { status, body } = await post('xxxx', { ...AUTHORIZED, 'content-encoding': encoding });
    expect([status, body['detail']]).toEqual([400, 'the body cannot be decompressed']);
  });
});
