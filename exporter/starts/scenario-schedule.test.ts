import { expect, test } from '@jest/globals';
import type { EndedRun } from './run-queue.ts';
import { ScenarioSchedule, type ScheduledScenario } from './scenario-schedule.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const TEN = Date.parse('2026-11-27T10:00:00Z');

const hourly = (name: string): ScheduledScenario => ({
  ...{ name, every_ms: HOUR_MS, offset_ms: 0, window_ms: HOUR_MS, delay_ms: MINUTE_MS, isBeside: true },
  words: ['--prometheus=http://p'],
});

/** A schedule under a clock of its own; `answers` are the ends of the evaluations, in their order (default: judged). */
function scheduleAt(minutes: number, scenarios: readonly ScheduledScenario[], answers: Partial<EndedRun>[] = []) {
  const started: string[] = [];
  const said: string[] = [];
  const clock = { minutes };
  const state = { judgedAt: null as number | null, isLeader: true, scenarios };
  let running = 0;
  const schedule = new ScenarioSchedule({
    scheduled: () => ({ scenarios: state.scenarios, folder: '/etc/bench' }),
    startRun: (words, { folder }) => {
      expect([words[0], folder, running]).toEqual(['import', '/etc/bench', 0]);
      running += 1;
      started.push(words.filter((word) => /^--(scenario|to)=/.test(word)).join(' '));
      const end = { exitCode: 0, output: null, message: null, ...answers.shift() };
      return { ended: Promise.resolve(end).finally(() => (running -= 1)), stop: () => undefined };
    },
    runsDirectory: '/runs',
    judgedAt: () => Promise.resolve(state.judgedAt),
    isLeader: () => Promise.resolve(state.isLeader),
    info: (line) => said.push(`INFO ${line}`),
    warn: (line) => said.push(`WARN ${line}`),
    now_ms: () => TEN + clock.minutes * MINUTE_MS,
  });
  const lookAt = async (at: number): Promise<readonly string[]> => {
    clock.minutes = at;
    await schedule.look();
    return started.splice(0);
  };
  return { schedule, lookAt, said, state };
}

const window = (name: string, hour: number): string => `--scenario=${name} --to=2026-11-27T${hour}:00:00.000Z`;

test('each window is evaluated once, when it is due, one scenario after the other', async () => {
  const { schedule, lookAt, said } = scheduleAt(0, [hourly('a'), hourly('b')], [{ exitCode: 99 }]);
  expect(await lookAt(1)).toEqual([window('a', 10), window('b', 10)]);
  expect([await lookAt(2), await lookAt(60.9)]).toEqual([[], []]);
  expect(await lookAt(61)).toEqual([window('a', 11), window('b', 11)]);
  expect(said[0]).toBe(
    'INFO scenario a: window 2026-11-27T09:00:00.000Z to 2026-11-27T10:00:00.000Z: a regression is open',
  );
  expect(schedule.counts.get('a')).toEqual({ evaluations: 2, failures: 0, missed: 0 });
});

test('after a start the newest window is evaluated, unless it was judged before', async () => {
  const { lookAt, state } = scheduleAt(0, [hourly('a')]);
  state.judgedAt = TEN + MINUTE_MS;
  expect(await lookAt(30)).toEqual([]);
  expect(await lookAt(61)).toEqual([window('a', 11)]);
  const later = scheduleAt(0, [hourly('a')]);
  later.state.judgedAt = TEN - 10 * HOUR_MS;
  expect(await later.lookAt(30)).toEqual([window('a', 10)]);
});

test('windows that were missed are counted and not made up', async () => {
  const { schedule, lookAt } = scheduleAt(0, [hourly('a')]);
  expect(await lookAt(1)).toEqual([window('a', 10)]);
  expect(await lookAt(4 * 60 + 1)).toEqual([window('a', 14)]);
  expect(schedule.counts.get('a')).toEqual({ evaluations: 2, failures: 0, missed: 3 });
});

test('one that fails is tried again less and less often, and reported once', async () => {
  const failure = { exitCode: 1, message: 'llmbench import: http://p: connection refused' };
  const { schedule, lookAt, said } = scheduleAt(0, [hourly('a')], [failure, failure, failure]);
  const tried = [];
  for (let minute = 1; minute < 20; minute += 0.5) if ((await lookAt(minute)).length > 0) tried.push(minute);
  expect(tried).toEqual([1, 2, 4, 8]);
  expect(said).toEqual([
    'WARN scenario a: the window 2026-11-27T09:00:00.000Z to 2026-11-27T10:00:00.000Z could not be judged and is tried again: llmbench import: http://p: connection refused',
    'INFO scenario a: window 2026-11-27T09:00:00.000Z to 2026-11-27T10:00:00.000Z: judged, no regression is open',
  ]);
  expect(schedule.counts.get('a')).toEqual({ evaluations: 4, failures: 3, missed: 0 });
});

test('one that fails until the next is due is missed, and stops no other', async () => {
  const failure = { exitCode: 1, message: 'refused' };
  const { schedule, lookAt } = scheduleAt(0, [hourly('a'), hourly('b')], [{}, {}, failure]);
  await lookAt(1);
  expect(await lookAt(61)).toEqual([window('a', 11), window('b', 11)]);
  // Nothing looks before the next window.
  expect(await lookAt(121)).toEqual([window('a', 12), window('b', 12)]);
  expect(schedule.counts.get('a')).toEqual({ evaluations: 3, failures: 1, missed: 1 });
});

test('without a canary nothing is judged, which is said once', async () => {
  const nothing = { exitCode: 0, message: 'nothing to judge: {version="canary"} has no samples' };
  const { lookAt, said } = scheduleAt(0, [hourly('a')], [nothing, nothing]);
  await lookAt(1);
  await lookAt(61);
  expect(said).toEqual(['INFO scenario a: nothing to judge']);
});

test('a process beside one that evaluates them follows it', async () => {
  const { lookAt, said, state } = scheduleAt(0, [hourly('a')]);
  state.isLeader = false;
  expect([await lookAt(1), await lookAt(2)]).toEqual([[], []]);
  expect(said).toEqual([expect.stringContaining('another llmbench serve evaluates the scheduled scenarios')]);
  state.isLeader = true;
  expect(await lookAt(3)).toEqual([window('a', 10)]);
});

test('scenarios may be added and removed while it works', async () => {
  const { schedule, lookAt, state } = scheduleAt(0, [hourly('a')]);
  await lookAt(1);
  state.scenarios = [hourly('b')];
  expect(await lookAt(2)).toEqual([window('b', 10)]);
  expect([...schedule.counts.keys()]).toEqual(['b']);
});

test('what is ended with the process has not failed', async () => {
  const { schedule, lookAt, said } = scheduleAt(0, [hourly('a')], [{ exitCode: 130 }]);
  const looking = lookAt(1);
  await schedule.stop(1000);
  await looking;
  expect([said, schedule.counts.get('a')?.failures]).toEqual([[], 0]);
});
