import { expect, test } from '@jest/globals';
import { Closers } from './run-context.ts';

test('closes in reverse order, each once the one before it has closed', async () => {
  const closed: string[] = [];
  const closers = new Closers();
  closers.add(() => closed.push('first'));
  closers.add(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    closed.push('second');
  });
  await closers.close();
  expect(closed).toEqual(['second', 'first']);
  await closers.close();
  expect(closed).toHaveLength(2);
});

test('a failure to close keeps nothing else open, and is thrown', async () => {
  const closed: string[] = [];
  const closers = new Closers();
  closers.add(() => closed.push('first'));
  closers.add(() => Promise.reject(new Error('in use')));
  closers.add(() => closed.push('third'));
  await expect(closers.close()).rejects.toThrow('in use');
  expect(closed).toEqual(['third', 'first']);
});
