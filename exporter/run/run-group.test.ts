import { describe, expect, test } from '@jest/globals';
import { RunControls } from '../load/phases/run-controls.ts';
import { performGroup } from './perform-group.ts';
import type { PerformedRun } from './perform-run.ts';
import { runGroup } from './run-group.ts';
import type { RunRequest } from './run-request.ts';

const request = (concurrency: number): RunRequest =>
  ({ runId: null, group: null, textVariant: 0, measure: { load: { concurrency } } }) as unknown as RunRequest;
const GROUP = { repeats: 1, samePrompts: false, groupId: null };

describe('the runs of a group', () => {
  test('a single run has no group', () => {
    const one = request(1);
    expect(runGroup([one], GROUP)).toEqual([one]);
  });

  test('steps of a sweep', () => {
    const runs = runGroup([request(1), request(2)], GROUP);
    expect(runs.map(({ group }) => [group?.step, group?.repeat])).toEqual([
      [0, null],
      [1, null],
    ]);
    expect(new Set(runs.map(({ group }) => group?.group_id)).size).toBe(1);
    expect(runs[0]?.group?.group_id).toMatch(/^\d{8}T\d{6}Z-[a-z0-9]{10}$/);
  });

  test('repeats go round all steps, and no text recurs', () => {
    const runs = runGroup([request(1), request(2)], { ...GROUP, repeats: 2, groupId: 'mine' });
    expect(runs.map(({ runId, measure }) => [runId, measure.load.concurrency])).toEqual([
      ['mine-s0-r0', 1],
      ['mine-s1-r0', 2],
      ['mine-s0-r1', 1],
      ['mine-s1-r1', 2],
    ]);
    expect(new Set(runs.map(({ textVariant }) => textVariant)).size).toBe(4);
  });

  test('the same prompts on request', () => {
    const runs = runGroup([request(1)], { repeats: 3, samePrompts: true, groupId: null });
    expect(runs.map(({ textVariant }) => textVariant)).toEqual([0, 0, 0]);
    expect(runs.map(({ group }) => [group?.step, group?.repeat])).toEqual([
      [null, 0],
      [null, 1],
      [null, 2],
    ]);
  });
});

describe('performing them', () => {
  const completed = { result: { status: 'completed' } } as PerformedRun;

  async function performed(statuses: readonly string[], controls = new RunControls(), cooldownSeconds = 0) {
    const calls: string[] = [];
    const requests = statuses.map((_, i) => request(i));
    await performGroup(requests, controls, {
      cooldownSeconds,
      announce: (number) => calls.push(`announce ${number}`),
      perform: ({ measure: { load } }) => {
        calls.push(`perform ${load.concurrency}`);
        if (statuses[load.concurrency ?? 0] === 'drained') controls.drain();
        const status = statuses[load.concurrency ?? 0] === 'failed' ? 'failed' : 'completed';
        return Promise.resolve({ ...completed, result: { ...completed.result, status } });
      },
      finished: () => calls.push('finished'),
    });
    return calls;
  }

  test('one after the other', async () => {
    expect(await performed(['ok', 'ok'])).toEqual([
      'announce 1',
      'perform 0',
      'finished',
      'announce 2',
      'perform 1',
      'finished',
    ]);
    expect(await performed(['ok'])).toEqual(['perform 0', 'finished']);
  });

  test('a run that fails is the last one', async () => {
    expect(await performed(['ok', 'failed', 'ok'])).toHaveLength(6);
  });

  test('ending a run early skips the cooldown and all later runs', async () => {
    expect(await performed(['drained', 'ok'], new RunControls(), 3600)).toHaveLength(3);
  });
});
