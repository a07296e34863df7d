import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';

import { RestartingServer } from './restarting-server.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Makes servers that write down what happens to them. */
function setUp() {
  const log: string[] = [];
  let made = 0;
  const make = () => {
    const own = ++made;
    return {
      listen: (port: number): Promise<number> => {
        log.push(`${own} listens on ${port}`);
        return Promise.resolve(port === 0 ? 4711 : port);
      },
      close: (): Promise<void> => {
        log.push(`${own} closes`);
        return Promise.resolve();
      },
    };
  };
  return { log, make };
}

test('stops and restarts on the same port, repeatedly', async () => {
  const { log, make } = setUp();
  const server = new RestartingServer(make, { afterSeconds: 10, seconds: 2, everySeconds: 20, worker: 0 });
  expect(await server.listen(0, 'h')).toBe(4711);
  await jest.advanceTimersByTimeAsync(9_999);
  expect(log).toEqual(['1 listens on 0']);
  await jest.advanceTimersByTimeAsync(1);
  expect(log.at(-1)).toBe('1 closes');
  await jest.advanceTimersByTimeAsync(2_000);
  expect(log.at(-1)).toBe('2 listens on 4711');
  await jest.advanceTimersByTimeAsync(18_000);
  expect(log.at(-1)).toBe('2 closes');
  await jest.advanceTimersByTimeAsync(2_000);
  expect(log.at(-1)).toBe('3 listens on 4711');
  await server.close();
  await jest.advanceTimersByTimeAsync(100_000);
  expect(log).toHaveLength(6);
  expect(log.at(-1)).toBe('3 closes');
});

test('only once, and never without the fault', async () => {
  const { log, make } = setUp();
  await new RestartingServer(make, { afterSeconds: 1, seconds: 1, everySeconds: null, worker: 0 }).listen(0, 'h');
  await jest.advanceTimersByTimeAsync(100_000);
  expect(log).toEqual(['1 listens on 0', '1 closes', '2 listens on 4711']);
  log.length = 0;
  await new RestartingServer(make, null).listen(5, 'h');
  await jest.advanceTimersByTimeAsync(100_000);
  expect(log).toEqual(['3 listens on 5']);
});
