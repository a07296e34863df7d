import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { appendEntry } from '../store/scenarios/append-log.ts';
import { exampleCapacity } from '../store/fixtures/example-capacity.ts';
import { writeCapacity } from '../store/scenarios/capacity-files.ts';
import { scenarioPaths } from '../store/scenarios/scenario-folders.ts';
import type { BaselineAction } from './baseline.ts';
import { ScenarioStates } from './scenario-state.ts';
import type { VerdictName } from './verdict.ts';

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
  [['regressed', 'drop'], true, 0],
  [['accept', 'regressed'], true, 0],
  [['undecided', 'undecided', 'undecided'], false, 3],
])('after %j: regression open %p, %i undecided in a row', async (events, open, undecided) => {
  await happened(...events);
  const [state] = await new ScenarioStates(directory).read();
  expect(state?.regression !== null).toBe(open);
  expect(state?.undecidedInARow).toBe(undecided);
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
