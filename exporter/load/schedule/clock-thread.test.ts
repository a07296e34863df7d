import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { ALARMS } from './alarm-ring.ts';
import { ClockThread } from './clock-thread.ts';
import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';

/** Rings of a clock thread: which instant, and when. */
async function rings(
  instants: (now_ns: number) => Iterable<number>,
  count: number,
): Promise<[due: number, at: number][]> {
  const epoch_ns = monotonicNow_ns();
  const clock = await ClockThread.launch(epoch_ns);
  const now_ns = (): number => monotonicNow_ns() - epoch_ns;
  return new Promise((resolve) => {
    const rung: [number, number][] = [];
    const iterable = instants(now_ns());
    clock.start(iterable[Symbol.iterator](), (due) => {
      rung.push([due, now_ns()]);
      if (rung.length < count) return;
      clock.stop();
      resolve(rung);
    });
  });
}

test('rings once for each instant, in order and never early', async () => {
  const offsets = Array.from({ length: 300 }, (_, i) => i * 0.3e6 + (i % 7) * 0.04e6);
  let expected: number[] = [];
  const rung = await rings((now) => (expected = offsets.map((offset) => now + offset)), 300);
  expect(rung.map(([due]) => due)).toEqual(expected);
  for (const [due, at] of rung) expect(at).toBeGreaterThanOrEqual(due);
});

test('more instants than the ring holds, all of them passed already', async () => {
  const count = 3 * ALARMS + 17;
  const rung = await rings((now) => Array.from({ length: count }, (_, i) => now - count + i), count);
  expect(rung).toHaveLength(count);
  expect(rung.every(([due], i) => i === 0 || due > (rung[i - 1]?.[0] ?? NaN))).toBe(true);
});

test('other work of the loop gets its turn while the clock is behind', async () => {
  let turns = 0;
  const count = 400;
  const counting = setInterval(() => turns++, 0);
  const immediate = (): void => {
    turns++;
    pending = setImmediate(immediate);
  };
  let pending = setImmediate(immediate);
  await rings((now) => Array.from({ length: count }, () => now - 1), count);
  clearInterval(counting);
  clearImmediate(pending);
  // 16 rings a turn at most.
  expect(turns).toBeGreaterThanOrEqual(count / 16 - 1);
});

test('a stopped clock rings no more', async () => {
  const epoch_ns = monotonicNow_ns();
  const clock = await ClockThread.launch(epoch_ns);
  const rung: number[] = [];
  await new Promise<void>((resolve) => {
    const now = monotonicNow_ns() - epoch_ns;
    clock.start([now, now + 1, now + 2e6, now + 60e9].values(), (due) => {
      rung.push(due);
      clock.stop();
      setTimeout(resolve, 20);
    });
  });
  expect(rung).toHaveLength(1);
});

test('a clock that has rung for all of its instants holds nothing, stopped or not', async () => {
  const program = `
    import { ClockThread } from ${JSON.stringify(new URL('./clock-thread.ts', import.meta.url).href)};
    const clock = await ClockThread.launch(0);
    clock.start([1, 2, 3].values(), (due) => console.log(due));
  `;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program]);
  expect(stdout).toBe('1\n2\n3\n');
});
