import { expect, test } from '@jest/globals';
import { until } from '../../../core/testing/until.ts';
import { EventQueue } from './response-reader.ts';

test('defers work and keeps its order', async () => {
  const queue = new EventQueue();
  const done: number[] = [];
  for (let i = 0; i < 1000; i++) queue.push({ bytes: 1, process: () => done.push(i) });
  expect(done).toEqual([]);
  await until(() => queue.length === 0);
  expect(done).toEqual([...Array(1000).keys()]);
});

test('work queued by work keeps the order', async () => {
  const queue = new EventQueue();
  const done: string[] = [];
  queue.push({ bytes: 0, process: () => queue.push({ bytes: 0, process: () => done.push('third') }) });
  queue.push({ bytes: 0, process: () => done.push('second') });
  await until(() => queue.length === 0);
  expect(done).toEqual(['second', 'third']);
});

test('is bounded by number and by bytes', () => {
  const queue = new EventQueue();
  let done = 0;
  for (let i = 0; i < 10_000; i++) queue.push({ bytes: 1, process: () => done++ });
  expect(queue.length).toBe(8192);
  expect(done).toBe(10_000 - 8192);
  const big = new EventQueue();
  for (let i = 0; i < 10; i++) big.push({ bytes: 20 * 2 ** 20, process: () => undefined });
  expect(big.length).toBe(4);
});
