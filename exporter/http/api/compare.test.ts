import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { run as compareCommand } from '../../cli/commands/compare.ts';
import { storeJudgedRun } from '../../judge/testing/judged-run.ts';
import { RunList, RunLibrary } from '../../publish/views/run-library.ts';
import { ownIdentity } from '../../files/process-identity.ts';
import { openStore, type RunStore } from '../../store/run-store.ts';
import { tokenAccess } from '../access/access.ts';
import { hostCheck } from '../allowed-host.ts';
import { listen, type Listening } from '../listen.ts';
import { createApi } from './api.ts';
import { complaints, PROBLEM } from './fixtures/openapi.ts';

let store: RunStore;
let server: Listening;
const problems: string[] = [];

/** Six runs tagged `before`, six tagged `after` that are 20 % slower, and a damaged one. */
beforeAll(async () => {
  ({ store } = await openStore(await mkdtemp(join(tmpdir(), 'llmbench-compare-'))));
  for (let i = 0; i < 6; i++) {
    const noise = 1 + 0.005 * Math.sin(i * 2.3);
    await storeJudgedRun(store, `before-${i}`, i, { ttft: 0.1 * noise, tags: ['before'] });
    await storeJudgedRun(store, `after-${i}`, 10 + i, { ttft: 0.12 * noise, tags: ['after'] });
  }
  await storeJudgedRun(store, 'torn', 20, { ttft: 0.1 });
  await writeFile(join(store.pathOf('torn'), 'run.json'), '{');
  await storeJudgedRun(store, 'half', 21, { ttft: 0.1 });
  await writeFile(join(store.pathOf('half'), 'result.json'), '{');
  await storeJudgedRun(store, 'edited', 22, { ttft: 0.1 });
  const edited = join(store.pathOf('edited'), 'result.json');
  await writeFile(edited, (await readFile(edited, 'utf8')).replaceAll('0.1,', '0.05,'));
  await storeJudgedRun(store, 'engine', 23, { ttft: 0.1, scenario: 'other-engine' });
  const problem = (line: string): void => void problems.push(line);
  const api = createApi({
    library: new RunLibrary(store, new RunList(store), problem),
    ...{ version: '0.1.0', access: tokenAccess({ token: null }), problem },
    hostCheck: hostCheck({ host: '127.0.0.1', allowedHosts: [] }),
  });
  server = await listen(api, { host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await server.close();
  await rm(store.directory, { recursive: true });
});

async function get(query: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${server.url}/compare?${query}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('GET /compare', () => {
  test('answers what the command prints, and as it is described', async () => {
    const { status, body } = await get('a=tag:before&b=tag:after');
    expect(status).toBe(200);
    let printed = '';
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((printed += String(text)), true));
    await compareCommand(['tag:before', 'tag:after', '--json', '--runs-dir', store.directory]);
    jest.restoreAllMocks();
    expect(body).toEqual(JSON.parse(printed));
    expect(body).toMatchObject({ verdict: 'regressed', scenario: 'nightly', next_command: null });
    expect(complaints('/paths/~1compare/get/responses/200/content/application~1json/schema', body)).toEqual([]);
  });

  test('a run that has ended and still waits for its last scrape is compared as it will be', async () => {
    await storeJudgedRun(store, 'waiting', 30, { ttft: 0.12 });
    const expected = await get('a=tag:before&b=waiting');
    const runFile = join(store.pathOf('waiting'), 'run.json');
    const run = JSON.parse(await readFile(runFile, 'utf8')) as object;
    await writeFile(runFile, JSON.stringify({ ...run, process: ownIdentity() }));
    // It is sealed when it is moved.
    await rm(join(store.pathOf('waiting'), 'checksums.sha256'));
    const unfinished = join(store.directory, '.unfinished');
    await mkdir(unfinished, { recursive: true });
    await rename(store.pathOf('waiting'), join(unfinished, 'waiting'));
    const waiting = await get('a=tag:before&b=waiting');
    expect([waiting.status, waiting.body]).toEqual([200, expected.body]);
    await rm(join(unfinished, 'waiting'), { recursive: true });
  });

  test('lists and repeated parameters select the same runs', async () => {
    const listed = await get('a=before-0,before-1&b=after-0');
    const repeated = await get('a=before-0&a=before-1&b=after-0');
    expect(listed).toEqual(repeated);
    expect(listed.body['runs']).toEqual({ a: ['before-0', 'before-1'], b: ['after-0'] });
  });

  test('too few runs are undecided, with the command that would gather more and without the directory', async () => {
    const { body } = await get('a=before-0&b=after-0');
    expect(body).toMatchObject({ verdict: 'undecided', next_command: expect.stringMatching(/^llmbench run --url /) });
    expect(JSON.stringify(body)).not.toContain(store.directory);
  });

  test('scenarios with different names are compared only on request, which is in the preflight', async () => {
    const { body: blocked } = await get('a=before-0&b=engine');
    expect(blocked).toMatchObject({ reason: 'preflight', preflight: [{ check: 'scenario', outcome: 'failed' }] });
    const { body } = await get('a=before-0&b=engine&across_scenarios=true');
    expect(body).toMatchObject({
      ...{ reason: 'too_few_runs', scenarios: { a: ['nightly'], b: ['other-engine'] } },
      preflight: [{ check: 'scenario', outcome: 'accepted' }],
      effect_meaning: expect.stringMatching(/^the median of the ratios of each run of B to each run of A/),
    });
    expect(complaints('/paths/~1compare/get/responses/200/content/application~1json/schema', body)).toEqual([]);
  });

  test('of runs with stages one stage is compared, never the whole', async () => {
    for (let i = 0; i < 6; i++) {
      await storeJudgedRun(store, `calm-${i}`, 40 + i, { ttft: 0.1, stages: [0.1, 0.2 + i / 1e4] });
      await storeJudgedRun(store, `slow-${i}`, 50 + i, { ttft: 0.1, stages: [0.1, 0.3 + i / 1e4] });
    }
    const ids = (name: string): string => Array.from({ length: 6 }, (_, i) => `${name}-${i}`).join(',');
    const query = `a=${ids('calm')}&b=${ids('slow')}`;
    const { status, body } = await get(query);
    expect([status, body['detail']]).toEqual([
      422,
      expect.stringContaining('its load has 2 stages, of which one at a time is compared: choose its number'),
    ]);
    expect((await get(`${query}&stage=1`)).body).toMatchObject({ verdict: 'unchanged' });
    expect((await get(`${query}&stage=2`)).body).toMatchObject({ verdict: 'regressed' });
    expect((await get(`${query}&stage=3`)).body['detail']).toContain('it has no stage 3, only 1 to 2');
  });

  test('measures and margins are the request’s', async () => {
    const { body } = await get('a=tag:before&b=tag:after&gate=itl:p50&margin=itl:p50=1&paired=true');
    expect(body).toMatchObject({ verdict: 'unchanged', design: 'pairs' });
    const [first] = body['measures'] as { measure: string; margin: number }[];
    expect(first).toMatchObject({ measure: 'inter_token_latency', gating: true, margin: 0.01 });
  });

  test.each([
    ['a=tag:before', 400, 'b is missing'],
    ['a=tag:before&b=', 400, "b is ''"],
    ['a=tag:before&b=last:x', 400, 'last:N requires a positive integer'],
    ['a=before-&b=after-0', 400, 'before- is a prefix of several runs'],
    ['a=before&b=after-0', 400, '; did you mean tag:before?'],
    ['a=before-0&b=absent', 404, 'b: no run "absent"'],
    ['a=scenario:none&b=after-0', 404, 'a: no run matches scenario:none'],
    ['a=before-0&b=torn', 422, 'torn cannot be read: torn/run.json is damaged'],
    ['a=before-0&b=half', 422, 'half cannot be read: half/result.json is damaged'],
    [
      'a=before-0&b=edited',
      422,
      'edited cannot be read: its result.json differs from its checksum; `llmbench runs verify`',
    ],
    ['a=before-0&b=after-0&across_scenarios=x', 400, "across_scenarios is 'x'"],
    ['a=before-0&b=before-0', 400, 'before-0 is in both sets'],
    ['a=tag:before&b=after-0&paired=true', 400, 'paired requires as many runs in A as in B; there are 6 and 1'],
    ['a=before-0&b=after-0&margin=x', 400, "margin is 'x' and must be a percentage above 0"],
    ['a=before-0&b=after-0&stage=0', 400, "stage is '0'"],
    ['a=before-0&b=after-0&stage=2', 422, 'its load has no stages'],
    ['a=before-0&b=after-0&gate=ttft:p51', 400, "gate is 'ttft:p51' and must be MEASURE:STAT"],
    ['a=before-0&b=after-0&gate=time_to_first_tokn', 400, 'did you mean time_to_first_token?'],
  ])('%s is %d: %s', async (query, expected, detail) => {
    const { status, body } = await get(query);
    expect([status, body['detail']]).toEqual([expected, expect.stringContaining(detail)]);
    expect(complaints(PROBLEM, body)).toEqual([]);
    expect(JSON.stringify(body)).not.toContain(store.directory);
  });
});
