import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { changeBaseline } from '../../judge/baseline.ts';
import { checkScenario } from '../../judge/check-scenario.ts';
import { DEFAULT_RULES } from '../../judge/rules.ts';
import { ScenarioStates } from '../../judge/scenario-state.ts';
import { storeJudgedRun } from '../../judge/testing/judged-run.ts';
import { RunList, RunLibrary } from '../../publish/views/run-library.ts';
import { openStore, type RunStore } from '../../store/run-store.ts';
import { tokenAccess } from '../access/access.ts';
import { hostCheck } from '../allowed-host.ts';
import { listen, type Listening } from '../listen.ts';
import { createApi } from './api.ts';
import { complaints, PROBLEM } from './fixtures/openapi.ts';

const SLASHED = 'nightly/8 GPUs';

let store: RunStore;
let server: Listening;

/**
 * 20 runs of a scenario at 100 ms that were accepted, 10 at 130 ms, of which the first was judged; 3 pinned; a scenario
 * without verdicts, and one that is expected and never ran.
 */
beforeAll(async () => {
  ({ store } = await openStore(await mkdtemp(join(tmpdir(), 'llmbench-scenarios-'))));
  const noise = (i: number): number => 1 + 0.005 * Math.sin(i * 2.3);
  for (let i = 0; i < 30; i++) {
    await storeJudgedRun(store, `run-${i}`, i, { ttft: (i < 20 ? 0.1 : 0.13) * noise(i), scenario: SLASHED });
  }
  await storeJudgedRun(store, 'other', 40, { ttft: 1, scenario: 'weekly' });
  await storeJudgedRun(store, 'torn', 41, { ttft: 1, scenario: SLASHED });
  await writeFile(join(store.pathOf('torn'), 'result.json'), '{');
  const change = { scenario: SLASHED, author: 'ana', reason: 'first baseline' };
  await changeBaseline(store, {
    ...change,
    ...{ action: 'accept', run_ids: Array.from({ length: 20 }, (_, i) => `run-${i}`) },
  });
  await changeBaseline(store, { ...change, action: 'pin', run_ids: ['run-0', 'run-1', 'run-2'] });
  await checkScenario(store, {
    ...{ scenario: SLASHED, runIds: ['run-20'], acceptPassed: false, rules: DEFAULT_RULES, author: 'ci' },
  });
  await appendFile(join(store.directory, 'scenarios', 'nightly%2f8%20GPUs', 'verdicts.jsonl'), '{"torn\n');
  const states = new ScenarioStates(store.directory);
  const problem = (): void => undefined;
  const api = createApi({
    library: new RunLibrary(store, new RunList(store), problem, () => states.read()),
    ...{ version: '0.1.0', access: tokenAccess({ token: null }), problem },
    hostCheck: hostCheck({ host: '127.0.0.1', allowedHosts: [] }),
    scenarioStates: () => states.read(),
    expectedScenarios: new Map([
      ['weekly', 7 * 86_400],
      ['never', 60],
    ]),
  });
  server = await listen(api, { host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await server.close();
  await rm(store.directory, { recursive: true });
});

async function get(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${server.url}${path}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const NIGHTLY = `/scenarios/${encodeURIComponent(SLASHED)}`;

describe('GET /runs', () => {
  interface Listed {
    readonly total: number;
    readonly runs: readonly { readonly run_id: string; readonly verdict: object | null }[];
  }
  const listed = async (query: string): Promise<Listed> => {
    const { status, body } = await get(`/runs?${query}`);
    expect(status).toBe(200);
    expect(complaints('/components/schemas/RunPage', body)).toEqual([]);
    return body as unknown as Listed;
  };
  const firstBaseline = Array.from({ length: 20 }, (_, i) => `run-${i}`);

  test('a judged run has its verdict and the runs that it is based on, another null', async () => {
    const { runs } = await listed('run_id=run-20&run_id=run-21&sort=start');
    expect(runs).toMatchObject([
      {
        run_id: 'run-20',
        verdict: { verdict: 'suspect', run_ids: ['run-20'], baseline_run_ids: firstBaseline, left_out: null },
      },
      { run_id: 'run-21', verdict: null },
    ]);
    expect((await get('/runs/run-20')).body).toMatchObject({ summary: { verdict: { verdict: 'suspect' } } });
  });

  test('runs are filtered and ordered by verdict, the values are counted', async () => {
    const idsOf = async (query: string): Promise<readonly string[]> =>
      (await listed(query)).runs.map(({ run_id }) => run_id);
    expect(await idsOf('verdict=suspect&verdict=regressed')).toEqual(['run-20']);
    expect(await idsOf('verdict=improved')).toEqual([]);
    expect((await idsOf('sort=verdict'))[0]).toBe('run-20');
    expect((await idsOf('sort=-verdict'))[0]).toBe('run-20');
    expect((await get('/values/verdicts')).body).toMatchObject({ values: [{ value: 'suspect', runs: 1 }] });
  });
});

describe('GET /scenarios', () => {
  test('where each stands: runs, newest verdict, baseline, overdue', async () => {
    const { status, body } = await get('/scenarios');
    expect(status).toBe(200);
    expect(complaints('/components/schemas/ScenarioPage', body)).toEqual([]);
    expect(body).toMatchObject({
      total: 3,
      scenarios: [
        {
          scenario: SLASHED,
          runs: 31,
          fingerprints: [{ runs: 31 }],
          verdict: { verdict: 'suspect', run_ids: ['run-20'] },
          baseline: { accepted: 20, pinned: 3 },
          open_regression: null,
          expected_interval_seconds: null,
          overdue: null,
        },
        // The runs are of early 2026.
        { scenario: 'weekly', verdict: null, baseline: { accepted: 0, pinned: 0 }, overdue: true },
        { scenario: 'never', runs: 0, last_completed: null, expected_interval_seconds: 60, overdue: true },
      ],
    });
  });

  test('is paginated', async () => {
    const { body } = await get('/scenarios?limit=1&page=2');
    expect(body).toMatchObject({ scenarios: [{ scenario: 'weekly' }], page: 2, limit: 1, total: 3 });
  });
});

describe('GET /scenarios/{name}', () => {
  test('baseline with who and why, verdicts and runs newest first, each with its value, and change points', async () => {
    const { status, body } = await get(NIGHTLY);
    expect(status).toBe(200);
    expect(complaints('/components/schemas/Scenario', body)).toEqual([]);
    expect(body).toMatchObject({
      summary: { scenario: SLASHED },
      baseline: {
        used: Array.from({ length: 20 }, (_, i) => `run-${i}`),
        pinned: ['run-0', 'run-1', 'run-2'],
        entries: [
          { action: 'pin', author: 'ana', reason: 'first baseline' },
          { action: 'accept', run_ids: { length: 20 } },
        ],
        total_entries: 2,
        damaged_lines: [],
      },
      verdicts: [{ verdict: 'suspect', author: 'ci', measures: [{ title: 'time to first token p50', measure: 'time_to_first_token', stat: 'p50' }, {}, {}, {}, {}] }], // prettier-ignore
      total_verdicts: 1,
      damaged_verdict_lines: [2],
      total_runs: 31,
      unreadable_runs: [{ run_id: 'torn', reason: expect.stringContaining('torn/result.json is damaged') }],
    });
    expect(JSON.stringify(body)).not.toContain(store.directory);
    const measures = body['measures'] as { measure: string; stat: string; margin: number }[];
    expect(measures[0]).toMatchObject({ title: 'time to first token p50', stat: 'p50', margin: 0.05 });
    const runs = body['runs'] as { run_id: string; accepted: boolean; pinned: boolean; verdict: string | null; values: { value: number }[] }[]; // prettier-ignore
    expect(runs.map(({ run_id }) => run_id)).toEqual(Array.from({ length: 30 }, (_, i) => `run-${29 - i}`));
    expect(runs[29]).toMatchObject({ accepted: true, pinned: true, verdict: null });
    expect(runs[9]).toMatchObject({ run_id: 'run-20', accepted: false, verdict: 'suspect' });
    const stored = await store.readResult('run-20');
    const ttft = stored.measures.find(({ measure }) => measure === 'time_to_first_token');
    expect(runs[9]?.values[0]?.value).toBe(ttft?.kind === 'distribution' ? ttft.percentiles.p50.value : null);
    expect(body['change_points']).toMatchObject([
      { measure: 'time_to_first_token', stat: 'p50', run_id: 'run-20', previous_run_id: 'run-19', worse: true },
      { measure: 'time_to_first_token', stat: 'p90', run_id: 'run-20' },
    ]);
  });

  test('the newest, and other measures, on request', async () => {
    const { body } = await get(`${NIGHTLY}?limit=2&gate=inter_token_latency:p90`);
    expect(body).toMatchObject({
      measures: [{ measure: 'inter_token_latency', stat: 'p90' }],
      runs: [{ run_id: 'run-29' }, { run_id: 'run-28' }],
      total_runs: 31,
      change_points: [],
    });
  });

  test('a run that was accepted meanwhile, and one that changed, are seen at the next request', async () => {
    await storeJudgedRun(store, 'late', 42, { ttft: 0.2, scenario: 'late' });
    const first = await get('/scenarios/late');
    expect(first.body).toMatchObject({ baseline: { accepted: [] }, runs: [{ run_id: 'late', accepted: false }] });
    const change = { scenario: 'late', author: null, reason: null } as const;
    await changeBaseline(store, { ...change, action: 'accept', run_ids: ['late'] });
    const path = join(store.pathOf('late'), 'result.json');
    await writeFile(path, '{}');
    const second = await get('/scenarios/late');
    expect(second.body).toMatchObject({ baseline: { accepted: ['late'] }, runs: [], unreadable_runs: [{}] });
  });

  test('a regression that is open: since when, its runs and its largest change, also after a check that decides nothing', async () => {
    const ids = Array.from({ length: 26 }, (_, i) => `slow-${i}`);
    for (const [i, id] of ids.entries()) {
      const client = i === 25 ? 'saturated' : 'ok';
      await storeJudgedRun(store, id, i, { ttft: i < 20 ? 0.1 : 0.13 + i / 1e5, scenario: 'slow', client });
    }
    const change = { scenario: 'slow', author: null, reason: null } as const;
    await changeBaseline(store, { ...change, action: 'accept', run_ids: ids.slice(0, 20) });
    const check = { scenario: 'slow', acceptPassed: false, rules: DEFAULT_RULES, author: 'ci' };
    await checkScenario(store, { ...check, runIds: ids.slice(20, 25) });
    await checkScenario(store, { ...check, runIds: ids.slice(25) });
    const { body } = await get('/scenarios/slow');
    expect(complaints('/components/schemas/Scenario', body)).toEqual([]);
    expect(body).toMatchObject({
      summary: {
        state: 'regressed',
        verdict: { verdict: 'undecided', reason: 'preflight' },
        open_regression: {
          since_run_id: 'slow-20',
          since: '2026-01-21T00:00:00.000Z',
          run_ids: ids.slice(20),
          baseline_run_ids: ids.slice(0, 20),
          largest: { measure: 'time_to_first_token', clock: 'sent' },
          acknowledged: null,
          sentence: expect.stringMatching(/^regressed since slow-20 \(5 runs ago\), time to first token p\d0 \+30/),
        },
      },
    });
  });

  test.each([
    ['/scenarios/none', 404, 'scenario "none" does not exist'],
    ['/scenarios/weekly?gate=nothing', 400, "gate is 'nothing'"],
    ['/scenarios/weekly?limit=0', 400, 'limit'],
  ])('%s is %d', async (path, expected, detail) => {
    const { status, body } = await get(path);
    expect([status, body['detail']]).toEqual([expected, expect.stringContaining(detail)]);
    expect(complaints(PROBLEM, body)).toEqual([]);
  });
});
