import { describe, expect, test } from '@jest/globals';
import { RunControls } from '../load/phases/run-controls.ts';
import type { DepartingRun } from './perform-run.ts';
import { performGroup, runGroup } from './run-group.ts';
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
  const completed = {
    ...{ result: { status: 'completed' }, notes: [], departure: Promise.resolve([]) },
  } as unknown as DepartingRun;

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
      finished: () => void calls.push('finished'),
      waiting: () => undefined,
      departed: () => undefined,
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

  test('no further one when they are enough', async () => {
    const loads: (number | null)[] = [];
    const performed = await performGroup([request(0), request(1), request(2)], new RunControls(), {
      cooldownSeconds: 0,
      announce: () => undefined,
      perform: ({ measure: { load } }) => {
        loads.push(load.concurrency);
        return Promise.resolve(completed);
      },
      finished: () => undefined,
      goesOn: (runs) => runs.length < 2,
      waiting: () => undefined,
      departed: () => undefined,
    });
    expect({ loads, performed: performed.length }).toEqual({ loads: [0, 1], performed: 2 });
  });

  test('ending a run early skips the cooldown and all later runs', async () => {
    expect(await performed(['drained', 'ok'], new RunControls(), 3600)).toHaveLength(3);
  });
});

describe('their scrapers', () => {
  type Departure = PromiseWithResolvers<readonly string[]>;
  const ended = (departure: Departure, status = 'completed') =>
    ({ result: { status }, notes: ['own'], departure: departure.promise }) as unknown as DepartingRun;
  const nothing = {
    cooldownSeconds: 0,
    announce: () => undefined,
    finished: () => undefined,
    waiting: () => undefined,
  };

  test('the next run does not wait for the scrapers of the one before; the group does, once', async () => {
    const departures = [Promise.withResolvers<readonly string[]>(), Promise.withResolvers<readonly string[]>()];
    const calls: string[] = [];
    const group = performGroup([request(0), request(1)], new RunControls(), {
      ...nothing,
      perform: ({ measure: { load } }) => {
        calls.push(`perform ${load.concurrency}`);
        return Promise.resolve(ended(departures[load.concurrency ?? 0] as Departure));
      },
      waiting: () => {
        calls.push('waiting');
        for (const { resolve } of departures) resolve(['nothing scraped']);
      },
      departed: (lines, runs) => calls.push(`departed ${JSON.stringify([...lines])} of ${runs}`),
    });
    await group;
    expect(calls).toEqual(['perform 0', 'perform 1', 'waiting', 'departed [["nothing scraped",2]] of 2']);
  });

  test('a single run is finished, and so shown, before its scrapers have come', async () => {
    const departure = Promise.withResolvers<readonly string[]>();
    const calls: string[] = [];
    await performGroup([request(0)], new RunControls(), {
      ...nothing,
      perform: () => Promise.resolve(ended(departure)),
      finished: ({ notes }) => void calls.push(`finished ${notes.join()}`),
      waiting: () => {
        calls.push('waiting');
        departure.resolve(['late']);
      },
      departed: (lines, runs) => calls.push(`departed ${JSON.stringify([...lines])} of ${runs}`),
    });
    expect(calls).toEqual(['finished own', 'waiting', 'departed [["late",1]] of 1']);
  });

  test('a run that cannot wait for its scrapers ends the group', async () => {
    const departure = Promise.withResolvers<readonly string[]>();
    const performed: number[] = [];
    const group = performGroup([request(0), request(1), request(2)], new RunControls(), {
      ...nothing,
      perform: async ({ measure: { load } }) => {
        performed.push(load.concurrency ?? -1);
        departure.reject(new Error('no space left'));
        return Promise.resolve(ended(departure));
      },
      departed: () => undefined,
    });
    await expect(group).rejects.toThrow('no space left');
    expect(performed).toEqual([0]);
  });

  test('an error of a later run is thrown when the scrapers of the runs before it were waited for', async () => {
    const departure = Promise.withResolvers<readonly string[]>();
    const calls: string[] = [];
    void departure.promise.then(() => calls.push('departed'));
    const group = performGroup([request(0), request(1)], new RunControls(), {
      ...nothing,
      perform: ({ measure: { load } }) =>
        load.concurrency === 0 ? Promise.resolve(ended(departure)) : Promise.reject(new Error('refused')),
      waiting: () => departure.resolve([]),
      departed: () => undefined,
    });
    await expect(group).rejects.toThrow('refused');
    expect(calls).toEqual(['departed']);
  });

  test('no more than 16 runs wait at once', async () => {
    const departures: Departure[] = [];
    let most = 0;
    let waiting = 0;
    await performGroup(
      Array.from({ length: 20 }, (_, i) => request(i)),
      new RunControls(),
      {
        ...nothing,
        perform: () => {
          const departure = Promise.withResolvers<readonly string[]>();
          departures.push(departure);
          most = Math.max(most, departures.length);
          return Promise.resolve(ended(departure));
        },
        waiting: () => {
          waiting += 1;
          for (const { resolve } of departures.splice(0)) resolve([]);
        },
        departed: () => undefined,
      },
    );
    expect([most, waiting]).toEqual([16, 2]);
  });
});
