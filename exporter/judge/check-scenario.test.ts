import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openStore, type RunStore } from '../store/run-store.ts';
import { changeBaseline, foldBaseline, readBaseline, type BaselineEntry } from './baseline.ts';
import { checkScenario, type CheckedScenario, type CheckRequest } from './check-scenario.ts';
import { DEFAULT_RULES } from './rule-choices.ts';
import { storeJudgedRun } from './testing/judged-run.ts';
import { appendVerdict, readVerdicts } from './verdict-log.ts';

let directory: string;
let store: RunStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-check-'));
  ({ store } = await openStore(directory));
});

afterEach(() => rm(directory, { recursive: true }));

/** Twenty accepted runs whose medians lie within 1 % of 100 ms. */
async function acceptTwenty(): Promise<readonly string[]> {
  const ids = Array.from({ length: 20 }, (_, i) => `base-${String(i).padStart(2, '0')}`);
  for (const [i, id] of ids.entries())
    await storeJudgedRun(store, id, i, { ttft: 0.1 * (1 + 0.01 * Math.sin(i * 2.3)) });
  await changeBaseline(store, { scenario: 'nightly', action: 'accept', run_ids: ids, author: 'a', reason: null });
  return ids;
}

const check = (runIds: readonly string[], change: Partial<CheckRequest> = {}): Promise<CheckedScenario> =>
  checkScenario(store, {
    ...{ scenario: 'nightly', runIds, acceptPassed: false, rules: DEFAULT_RULES, author: 'ci' },
    ...change,
  });

describe('a check', () => {
  test('without a baseline is undecided and says how many runs are missing', async () => {
    await storeJudgedRun(store, 'new', 30, { ttft: 0.1 });
    const { judgment } = await check(['new']);
    expect(judgment).toMatchObject({ verdict: 'undecided', needs: { design: 'baseline', further: 5 } });
  });

  test('a run within the history passes, and enters the baseline only when that was requested', async () => {
    await acceptTwenty();
    await storeJudgedRun(store, 'new', 30, { ttft: 0.1005 });
    const passed = await check(['new']);
    expect(passed.judgment.verdict).toBe('unchanged');
    expect((await readBaseline(directory, 'nightly')).accepted).not.toContain('new');
    expect((await check(['new'], { acceptPassed: true })).acceptedRunIds).toEqual(['new']);
    expect((await readBaseline(directory, 'nightly')).accepted).toContain('new');
  });

  test('a slow run is suspect and never enters; the next runs of the pipeline confirm it without the first', async () => {
    await acceptTwenty();
    const slow = ['s1', 's2', 's3', 's4', 's5', 's6'];
    for (const [i, id] of slow.entries()) await storeJudgedRun(store, id, 30 + i, { ttft: 0.12 + i / 1e4 });
    const first = await check(['s1'], { acceptPassed: true });
    expect(first.judgment.verdict).toBe('suspect');
    expect(first.acceptedRunIds).toEqual([]);
    let last = first;
    for (const id of slow.slice(1)) {
      last = await check([id]);
      if (last.judgment.verdict === 'regressed') break;
    }
    expect(last.judgment.verdict).toBe('regressed');
    expect(last.judgment.window.left_out).toBe('s1');
    expect(last.judgment.window.runs.b).not.toContain('s1');
  });

  test('a run whose client was saturated does not end a suspicion, and is no evidence', async () => {
    await acceptTwenty();
    const slow = ['s1', 's2', 's3', 's4', 's5'];
    for (const [i, id] of slow.entries()) await storeJudgedRun(store, id, 32 + i, { ttft: 0.12 + i / 1e4 });
    await storeJudgedRun(store, 'busy', 40, { ttft: 0.2, client: 'saturated' });
    expect((await check(['s1'])).judgment.verdict).toBe('suspect');
    expect((await check(['busy'])).judgment).toMatchObject({ verdict: 'undecided', reason: 'preflight' });
    let last = await check(['s2']);
    expect(last.runIds).toEqual(['s1', 's2']);
    for (const id of slow.slice(2)) if (last.judgment.verdict !== 'regressed') last = await check([id]);
    expect(last.judgment).toMatchObject({ verdict: 'regressed', window: { left_out: 's1' } });
  });

  test.each([
    [{ verdict: 'undecided', reason: 'wide_interval', run_ids: ['s1', 's2'] }, ['s1', 's2', 's3']],
    [{ verdict: 'unchanged', fingerprint: 'another configuration', run_ids: ['base-00'] }, ['s1', 's3']],
    [{ verdict: 'unchanged', run_ids: ['s1', 's2'] }, ['s3']],
  ] as const)('after a suspicion of s1 and %j the next check is of %j', async (next, expected) => {
    await acceptTwenty();
    for (const [i, id] of ['s1', 's2', 's3'].entries()) await storeJudgedRun(store, id, 30 + i, { ttft: 0.12 });
    await check(['s1']);
    const [suspicion] = (await readVerdicts(directory, 'nightly')).entries;
    if (suspicion === undefined) throw new Error('no verdict');
    await appendVerdict(store, { ...suspicion, ...next });
    expect((await check(['s3'])).runIds).toEqual(expected);
  });

  test('a suspicion ends when its run is dropped', async () => {
    await acceptTwenty();
    for (const [i, id] of ['s1', 's2'].entries()) await storeJudgedRun(store, id, 30 + i, { ttft: 0.12 });
    await check(['s1']);
    const drop = { scenario: 'nightly', action: 'drop', run_ids: ['s1'], author: 'a', reason: 'maintenance' } as const;
    await changeBaseline(store, drop);
    expect((await check(['s2'])).runIds).toEqual(['s2']);
  });

  test('a run that was dropped does not come back by passing', async () => {
    await acceptTwenty();
    await storeJudgedRun(store, 'new', 30, { ttft: 0.1 });
    const drop = { scenario: 'nightly', action: 'drop', run_ids: ['new'], author: 'a', reason: 'maintenance' } as const;
    await changeBaseline(store, drop);
    expect((await check(['new'], { acceptPassed: true })).acceptedRunIds).toEqual([]);
  });

  test('a saturated client decides nothing', async () => {
    await acceptTwenty();
    await storeJudgedRun(store, 'new', 30, { ttft: 0.2, client: 'saturated' });
    const { judgment } = await check(['new']);
    expect(judgment).toMatchObject({ verdict: 'undecided', reason: 'preflight' });
  });

  test('baseline runs that were deleted are named, and the others are used', async () => {
    await acceptTwenty();
    await rm(join(directory, 'base-03'), { recursive: true });
    await storeJudgedRun(store, 'new', 30, { ttft: 0.1 });
    const { judgment, notes } = await check(['new']);
    expect(judgment.window.runs.a).toHaveLength(19);
    expect(notes).toEqual([expect.stringMatching(/^baseline run base-03 is not used: .*does not exist/)]);
  });

  test('a run that cannot be read is refused', async () => {
    await expect(check(['gone'])).rejects.toThrow(/^gone cannot be read/);
  });
});

test('the lines of both files match their schemas', async () => {
  await acceptTwenty();
  await storeJudgedRun(store, 'new', 30, { ttft: 0.13 });
  await check(['new']);
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
  addFormats.default(ajv);
  for (const [file, schema] of [
    ['baseline.jsonl', 'baseline'],
    ['verdicts.jsonl', 'verdict'],
  ] as const) {
    const url = new URL(`../../schemas/${schema}.schema.json`, import.meta.url);
    const validate = ajv.compile(JSON.parse(readFileSync(url, 'utf8')) as object);
    const lines = (await readFile(join(directory, 'scenarios', 'nightly', file), 'utf8')).trim().split('\n');
    for (const line of lines) {
      validate(JSON.parse(line));
      expect(validate.errors ?? []).toEqual([]);
    }
  }
  const { entries } = await readVerdicts(directory, 'nightly');
  expect(entries).toMatchObject([{ verdict: 'suspect', run_ids: ['new'], author: 'ci' }]);
  expect(entries[0]?.measures.every(({ gating }) => gating)).toBe(true);
});

test('the folder of the scenarios is no run', async () => {
  await acceptTwenty();
  expect((await store.list()).map(({ run_id }) => run_id)).not.toContain('scenarios');
});

describe('the state after the lines of a baseline', () => {
  const entry = (action: BaselineEntry['action'], ...run_ids: string[]): BaselineEntry => ({
    ...{ schema_version: 1, scenario: 's', at: '2026-01-01T00:00:00.000Z', action, run_ids },
    ...{ author: null, reason: null },
  });

  test.each([
    [[entry('accept', 'a', 'b'), entry('accept', 'b', 'c')], { accepted: ['a', 'b', 'c'], pinned: [], dropped: [] }],
    [[entry('accept', 'a', 'b'), entry('drop', 'a')], { accepted: ['b'], pinned: [], dropped: ['a'] }],
    [[entry('drop', 'a'), entry('accept', 'a')], { accepted: ['a'], pinned: [], dropped: [] }],
    [[entry('pin', 'a', 'b'), entry('pin', 'c')], { accepted: [], pinned: ['c'], dropped: [] }],
    [[entry('pin', 'a', 'b'), entry('unpin', 'a')], { accepted: [], pinned: ['b'], dropped: [] }],
    [[entry('pin', 'a'), entry('drop', 'a')], { accepted: [], pinned: [], dropped: ['a'] }],
  ])('%#', (entries, expected) => {
    expect(foldBaseline(entries)).toEqual(expected);
  });
});
