import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { EndedRun, ChildRun } from './run-queue.ts';
import { NEVER_STARTED, RunQueue } from './run-queue.ts';

const END: EndedRun = { exitCode: 0, output: null, message: null };

/** Processes that end on request. */
function processes() {
  const begun: string[] = [];
  const end = new Map<string, () => void>();
  const begin = (name: string) => (): ChildRun => {
    begun.push(name);
    const { promise, resolve } = Promise.withResolvers<EndedRun>();
    end.set(name, () => resolve(END));
    return { ended: promise, stop: () => resolve({ ...END, exitCode: 130 }) };
  };
  return { begun, end, begin };
}

test('runs begin one after the other, in their order, and beyond the limit none is added', async () => {
  const { begun, end, begin } = processes();
  const queue = new RunQueue(() => ({ concurrent: 1, queue: 2 }));
  const added = ['a', 'b', 'c', 'd'].map((name) => queue.add(begin(name)));
  expect(added.map((run) => run !== null)).toEqual([true, true, true, false]);
  expect(begun).toEqual(['a']);
  end.get('a')?.();
  expect(await added[0]?.ended).toBe(END);
  await setImmediate();
  expect(begun).toEqual(['a', 'b']);
  expect(queue.add(begin('e'))).not.toBeNull();
  end.get('b')?.();
  await setImmediate();
  end.get('c')?.();
  await setImmediate();
  expect(begun).toEqual(['a', 'b', 'c', 'e']);
});

test('several at the same time; without a queue only those', () => {
  const { begun, begin } = processes();
  const queue = new RunQueue(() => ({ concurrent: 2, queue: 0 }));
  expect([queue.add(begin('a')), queue.add(begin('b')), queue.add(begin('c'))].map((run) => run === null)).toEqual([
    ...[false, false, true],
  ]);
  expect(begun).toEqual(['a', 'b']);
});

test('a run that waits leaves the queue when it is stopped', async () => {
  const { begun, end, begin } = processes();
  const queue = new RunQueue(() => ({ concurrent: 1, queue: 5 }));
  const [, b, c] = ['a', 'b', 'c'].map((name) => queue.add(begin(name)));
  b?.stop(1000);
  expect(await b?.ended).toBe(NEVER_STARTED);
  end.get('a')?.();
  await setImmediate();
  expect(begun).toEqual(['a', 'c']);
  end.get('c')?.();
  expect(await c?.ended).toBe(END);
});

test('after the stop nothing begins', async () => {
  const { begun, begin } = processes();
  const queue = new RunQueue(() => ({ concurrent: 1, queue: 5 }));
  const [a, b] = ['a', 'b'].map((name) => queue.add(begin(name)));
  await queue.stop(1000);
  expect([(await a?.ended)?.exitCode, await b?.ended]).toEqual([130, NEVER_STARTED]);
  expect(queue.add(begin('c'))).toBeNull();
  expect(begun).toEqual(['a']);
});
