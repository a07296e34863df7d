import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openStore, type RunStore } from '../store/run-store.ts';
import { changeBaseline, foldBaseline, readBaseline } from './baseline.ts';
import type { BaselineEntry } from '../../core/api/scenarios.ts';
import { checkScenario, type CheckedScenario, type CheckRequest } from './check-scenario.ts';
import { recordChange } from './scenario-state.ts';
import { DEFAULT_RULES } from './rules.ts';
import { storeJudgedRun } from './testing/judged-run.ts';
import { readVerdicts } from './verdict-log.ts';

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

  test('a slow run is suspect and never enters; the next nights confirm it, and it stays red until it is over', async () => {
    await acceptTwenty();
    const levels = [0.13, 0.131, 0.129, 0.13, 0.131, 0.13, 0.1, 0.1, 0.0995, 0.1, 0.1];
    const states: unknown[] = [];
    for (const [i, ttft] of levels.entries()) {
      await storeJudgedRun(store, `n${i}`, 30 + i, { ttft });
      const { state, acceptedRunIds } = await check([`n${i}`], { acceptPassed: true });
      states.push(state?.state);
      if (i < 6) expect(acceptedRunIds).toEqual([]);
    }
    const red = ['regressed', 'regressed', 'regressed', 'regressed'];
    expect(states.slice(0, 6)).toEqual(['suspect', 'suspect', ...red]);
    // Two or three runs as before end it; then the scenario is as it was.
    const end = states.indexOf('recovered');
    expect([7, 8]).toContain(end);
    expect(states.slice(6, end).every((state) => state === 'regressed')).toBe(true);
    expect(states.at(-1)).toBe('ok');
  });

  test('all runs that no baseline has are judged, whichever are named', async () => {
    await acceptTwenty();
    for (let i = 0; i < 10; i++) await storeJudgedRun(store, `s${i}`, 30 + i, { ttft: 0.12 });
    const { judgment, runIds } = await check(['s9']);
    expect(judgment.verdict).toBe('regressed');
    expect(runIds).toEqual(['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7', 's8', 's9']);
  });

  test('an improvement is confirmed, becomes the normal level, and the way back is a regression', async () => {
    await acceptTwenty();
    const levels = [0.075, 0.0751, 0.0749, 0.075, 0.0751, 0.075, 0.0752, 0.1, 0.101, 0.1, 0.1, 0.101];
    const verdicts: string[] = [];
    for (const [i, ttft] of levels.entries()) {
      await storeJudgedRun(store, `n${i}`, 30 + i, { ttft });
      verdicts.push((await check([`n${i}`], { acceptPassed: true })).judgment.verdict);
    }
    expect(verdicts.slice(0, 5)).toEqual(['undecided', 'undecided', 'improved', 'improved', 'improved']);
    expect(verdicts.slice(5, 7)).toEqual(['unchanged', 'unchanged']);
    expect(verdicts.slice(7)).toEqual(['suspect', 'suspect', 'regressed', 'regressed', 'regressed']);
  });

  test('one accepted run that was disturbed is named with the command that drops it, and hides nothing', async () => {
    await acceptTwenty();
    await storeJudgedRun(store, 'bad', 25, { ttft: 0.14 });
    const accept = { scenario: 'nightly', action: 'accept', run_ids: ['bad'], author: 'a', reason: null } as const;
    await changeBaseline(store, accept);
    for (let i = 0; i < 3; i++) await storeJudgedRun(store, `s${i}`, 30 + i, { ttft: 0.125 });
    const { judgment, notes } = await check(['s2']);
    expect(judgment.verdict).toBe('regressed');
    expect(notes).toEqual([expect.stringMatching(/^accepted run bad is an outlier .*llmbench baseline drop bad/)]);
  });

  test('accepting the runs of a regression makes their level the normal one', async () => {
    await acceptTwenty();
    for (let i = 0; i < 6; i++) await storeJudgedRun(store, `s${i}`, 30 + i, { ttft: 0.12 + i / 1e4 });
    expect((await check(['s3'])).state?.state).toBe('regressed');
    const accept = { scenario: 'nightly', action: 'accept', author: 'a', reason: 'new model' } as const;
    await recordChange(store, { ...accept, run_ids: ['s0', 's1', 's2', 's3'] });
    const after = await check(['s5']);
    expect(after.state).toMatchObject({ state: 'ok', open: null });
    expect(after.judgment.verdict).not.toBe('regressed');
  });

  test('a saturated run is no evidence, and does not end a regression', async () => {
    await acceptTwenty();
    for (let i = 0; i < 4; i++) await storeJudgedRun(store, `s${i}`, 30 + i, { ttft: 0.12 + i / 1e4 });
    await storeJudgedRun(store, 'busy', 40, { ttft: 0.1, client: 'saturated' });
    expect((await check(['s3'])).state?.state).toBe('regressed');
    const busy = await check(['busy']);
    expect(busy).toMatchObject({
      judgment: { verdict: 'undecided', reason: 'preflight' },
      state: { state: 'regressed' },
    });
  });

  test('a check that cannot see what the scenario has to detect reports it, and only that counts as blind', async () => {
    await acceptTwenty();
    for (let i = 0; i < 3; i++) await storeJudgedRun(store, `n${i}`, 30 + i, { ttft: 0.102 });
    expect((await check(['n1'])).state?.undecidedInARow).toBe(0);
    expect((await check(['n1'], { detect: 0.5 })).state?.undecidedInARow).toBe(0);
    await storeJudgedRun(store, 'busy', 40, { ttft: 0.1, client: 'saturated' });
    expect((await check(['busy'])).state?.undecidedInARow).toBe(1);
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
    expect(foldBaseline(entries)).toMatchObject(expected);
  });
});
