import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { appendEntry } from '../store/scenarios/append-log.ts';
import { exampleCapacity } from '../store/fixtures/example-capacity.ts';
import { writeCapacity } from '../store/scenarios/capacity-files.ts';
import { scenarioPaths } from '../store/scenarios/scenario-folders.ts';
import type { BaselineAction, BaselineEntry } from '../../core/api/scenarios.ts';
import type { VerdictEntry, MeasureVerdict, VerdictName } from '../../core/api/verdict.ts';
import { ScenarioStates, stateOf } from './scenario-state.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-states-'));
});

afterEach(() => rm(directory, { recursive: true }));

/** Entries in the order of time, one a day. */
async function happened(...events: readonly (VerdictName | BaselineAction)[]): Promise<void> {
  const paths = scenarioPaths(directory, 'chat');
  for (const [day, event] of events.entries()) {
    const common = { schema_version: 1, scenario: 'chat', at: new Date(Date.UTC(2026, 0, 1 + day)).toISOString() };
    const isAction = ['accept', 'drop', 'pin', 'unpin'].includes(event);
    if (isAction)
      await appendEntry(paths.baseline, { ...common, action: event, run_ids: [`r${day}`], author: null, reason: null });
    else await appendEntry(paths.verdicts, { ...common, verdict: event, run_ids: [`r${day}`], measures: [] });
  }
}

test.each<[readonly (VerdictName | BaselineAction)[], boolean, number]>([
  [['unchanged'], false, 0],
  [['suspect', 'regressed'], true, 0],
  [['regressed', 'undecided', 'undecided'], true, 2],
  [['regressed', 'suspect'], true, 0],
  [['regressed', 'unchanged'], false, 0],
  [['regressed', 'improved', 'undecided'], false, 1],
  [['regressed', 'accept'], false, 0],
  [['regressed', 'pin'], false, 0],
  // Of another run than the regression's.
  [['regressed', 'drop'], true, 0],
  [['accept', 'regressed'], true, 0],
  [['undecided', 'undecided', 'undecided'], false, 3],
])('after %j: regression open %p, %i undecided in a row', async (events, open, undecided) => {
  await happened(...events);
  const [state] = await new ScenarioStates(directory).read();
  expect(state?.open !== null).toBe(open);
  expect(state?.undecidedInARow).toBe(undecided);
});

const DAY = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString();

/** A line of verdicts.jsonl; `worse` is the effect on the gating measure. */
function judged(day: number, verdict: VerdictName, worse: number | null, change: object = {}): VerdictEntry {
  return {
    ...{ schema_version: 1, scenario: 'chat', at: DAY(day), verdict, reason: 'decided', sentence: 's', needs: null },
    ...{ fingerprint: 'f', run_ids: [`r${day}`], baseline_run_ids: ['b'], left_out: null, first_start: DAY(day) },
    ...{ anchor_verdict: null, author: null, recovered: false },
    measures: worse === null ? [] : [gating(worse)],
    ...change,
  };
}

const gating = (estimate: number): MeasureVerdict => ({
  ...{ measure: 'time_to_first_token', stat: 'p50', unit: 'seconds', definition: 'd', origin: 'client' },
  ...{ population: 'ok', clock: 'sent', direction: 'lower', gating: true, verdict: 'regressed', reason: 'decided' },
  ...{ sentence: 's', effect: { low: estimate, estimate, high: estimate }, confidence: 0.95, method: 'rank_sum_exact' },
  ...{ runs: { a: 20, b: 3 }, margin: 0.05, detectable: 0.06, p: null, needs: null },
});

const changed = (day: number, action: BaselineEntry['action'], run_ids: string[], reason: string | null = null) => ({
  ...{ schema_version: 1, scenario: 'chat', at: DAY(day), action, run_ids, author: 'ann', reason },
});

describe('an open regression', () => {
  const NIGHTS = [
    judged(1, 'unchanged', null),
    judged(2, 'regressed', 1.2),
    judged(3, 'regressed', 1.31),
    judged(4, 'suspect', 1.25),
  ];

  test('names all runs since it began and keeps its largest change, whatever the nights after it say', () => {
    const state = stateOf(NIGHTS, []);
    expect(state?.state).toBe('regressed');
    expect(state?.open).toMatchObject({
      ...{ since_run_id: 'r2', since: DAY(2), found_at: DAY(2), run_ids: ['r2', 'r3', 'r4'], baseline_run_ids: ['b'] },
      ...{ acknowledged: null, largest: { title: 'time to first token p50', effect: { estimate: 1.31 } } },
      sentence: 'regressed since r2 (2 runs ago), time to first token p50 +31 %',
    });
  });

  test('has no run from before it, however far back a later check looks', () => {
    const wide = judged(5, 'regressed', 1.25, { run_ids: ['r0', 'r1', 'r3', 'r4', 'r5'] });
    expect(stateOf([...NIGHTS, wide], [])?.open).toMatchObject({
      ...{ since_run_id: 'r2', run_ids: ['r2', 'r3', 'r4', 'r5'] },
      sentence: 'regressed since r2 (3 runs ago), time to first token p50 +31 %',
    });
  });

  test('ends when a check shows it, and the scenario is recovered until the next check', () => {
    const over = [...NIGHTS, judged(5, 'undecided', null, { recovered: true })];
    expect(stateOf(over, [])).toMatchObject({ state: 'recovered', open: null });
    expect(stateOf([...over, judged(6, 'undecided', null)], [])).toMatchObject({ state: 'ok', open: null });
  });

  test('of a share of failures says that the effect is that of the share that remains', () => {
    const ratio: MeasureVerdict = { ...gating(0.6), measure: 'error_ratio', stat: 'value' };
    const state = stateOf([judged(3, 'regressed', null, { measures: [ratio] })], []);
    expect(state?.open?.sentence).toBe('regressed since r3, 1 − error ratio changed by −40 %');
  });

  test('is acknowledged with a reason: recorded, open, and without effect on later regressions', () => {
    const known = changed(5, 'acknowledge', ['r2', 'r3', 'r4'], 'new driver');
    expect(stateOf(NIGHTS, [known])?.open?.acknowledged).toEqual({ at: DAY(5), author: 'ann', reason: 'new driver' });
    const again = [...NIGHTS, judged(6, 'unchanged', null, { recovered: true }), judged(7, 'regressed', 1.1)];
    expect(stateOf(again, [known])?.open).toMatchObject({ since_run_id: 'r7', acknowledged: null });
  });

  test('ends when its runs are dropped; what is left of them stays open', () => {
    expect(stateOf(NIGHTS, [changed(5, 'drop', ['r2'])])?.open).toMatchObject({ run_ids: ['r3', 'r4'] });
    expect(stateOf(NIGHTS, [changed(5, 'drop', ['r2', 'r3', 'r4'])])).toMatchObject({ state: 'suspect', open: null });
  });

  test('is one of its configuration: checks of another say nothing about it', () => {
    const other = judged(5, 'unchanged', null, { fingerprint: 'g', recovered: true });
    expect(stateOf([...NIGHTS, other, judged(6, 'undecided', null)], [])?.state).toBe('regressed');
  });
});

test('each judged run has its newest verdict, in short', async () => {
  const { verdicts } = scenarioPaths(directory, 'chat');
  const common = { schema_version: 1, scenario: 'chat', at: '2026-01-01T00:00:00.000Z', measures: [{}] };
  await appendEntry(verdicts, { ...common, verdict: 'suspect', run_ids: ['a'] });
  await appendEntry(verdicts, { ...common, verdict: 'unchanged', run_ids: ['old'], baseline_run_ids: ['base'] });
  await appendEntry(verdicts, { ...common, verdict: 'regressed', run_ids: ['a', 'b'], left_out: 'a' });
  const [state] = await new ScenarioStates(directory).read();
  expect([...(state?.verdictOf ?? [])].map(([id, { verdict }]) => [id, verdict])).toEqual([
    ['a', 'regressed'],
    ['old', 'unchanged'],
    ['b', 'regressed'],
  ]);
  expect(state?.verdictOf.get('old')).toMatchObject({ baseline_run_ids: ['base'] });
  expect(state?.verdictOf.get('b')).toMatchObject({ left_out: 'a' });
  expect(state?.verdictOf.get('b')).not.toHaveProperty('measures');
});

test('nothing is read again until a file changes', async () => {
  await happened('unchanged');
  const states = new ScenarioStates(directory);
  const first = await states.read();
  expect(await states.read()).toBe(first);
  await happened('regressed');
  const second = await states.read();
  expect(second).not.toBe(first);
  expect(second[0]?.newest?.verdict).toBe('regressed');
  await rm(join(directory, 'scenarios'), { recursive: true });
  expect(await states.read()).toEqual([]);
});

test('the newest answer of each search counts, and one without an answer replaces none', async () => {
  const at = (day: number): { readonly updated_at: string } => ({ updated_at: `2026-11-0${day}T10:00:00.000Z` });
  await writeCapacity(directory, exampleCapacity({ group_id: 'a', holds: 8, ...at(1) }));
  await writeCapacity(directory, exampleCapacity({ group_id: 'b', holds: 6, fails: 7, ...at(2) }));
  await writeCapacity(directory, exampleCapacity({ group_id: 'c', holds: null, fails: null, end: null, ...at(3) }));
  await writeCapacity(directory, exampleCapacity({ group_id: 'd', load: 'request_rate', holds: 2.5, ...at(1) }));
  const states = new ScenarioStates(directory);
  const [state] = await states.read();
  expect(state?.scenario).toBe('chat');
  expect(state?.capacities.map(({ load, holds }) => [load, holds])).toEqual([
    ['concurrency', 6],
    ['request_rate', 2.5],
  ]);
  await writeCapacity(directory, exampleCapacity({ group_id: 'c', holds: 10, fails: 11, ...at(3) }));
  expect((await states.read())[0]?.capacities).toContainEqual(expect.objectContaining({ group_id: 'c', holds: 10 }));
});

test('a scenario whose file is a FIFO is left out and named once; the others are read', async () => {
  await happened('regressed');
  const { baseline } = scenarioPaths(directory, 'other');
  await mkdir(dirname(baseline), { recursive: true });
  execFileSync('mkfifo', [baseline]);
  const lines: string[] = [];
  const states = new ScenarioStates(directory, (line) => lines.push(line));
  await states.read();
  expect((await states.read()).map(({ scenario }) => scenario)).toEqual(['chat']);
  expect(lines).toEqual([`a scenario is left out: ${baseline} is damaged: it is not a regular file`]);
  await expect(new ScenarioStates(directory).read()).rejects.toThrow('not a regular file');
  await expect(appendEntry(baseline, {})).rejects.toThrow('not a regular file');
});
