import { expect, test } from '@jest/globals';
import { SharedLook } from './shared-look.ts';

/** Looks that end when the test lets them, and what they find. */
function looks(): { look: () => Promise<string>; end: (found: string) => void; readonly begun: number } {
  let begun = 0;
  let end = (_found: string): void => {};
  const look = (): Promise<string> => {
    begun += 1;
    return new Promise((resolve) => (end = resolve));
  };
  return {
    look,
    end: (found) => end(found),
    get begun() {
      return begun;
    },
  };
}

test('callers who come together share one look, and wait for it', async () => {
  const source = looks();
  const shared = new SharedLook(source.look, () => false);
  const asked = [shared.ask(), shared.ask()];
  source.end('a');
  expect(await Promise.all(asked)).toEqual(['a', 'a']);
  const again = shared.ask();
  source.end('b');
  expect([await again, source.begun]).toEqual(['b', 2]);
});

test('while runs arrive, a caller receives what the look before found, and the look goes on', async () => {
  const source = looks();
  let isFilling = true;
  const shared = new SharedLook(source.look, () => isFilling);
  const first = shared.ask();
  source.end('nothing yet');
  await first;
  expect([await shared.ask(), source.begun]).toEqual(['nothing yet', 2]);
  isFilling = false;
  const whole = shared.ask();
  source.end('all');
  expect([await whole, source.begun]).toEqual(['all', 2]);
});

test('a look that fails is reported, and the next caller looks again', async () => {
  let fails = true;
  const shared = new SharedLook(
    () => (fails ? Promise.reject(new Error('gone')) : Promise.resolve('back')),
    () => true,
  );
  await expect(shared.ask()).rejects.toThrow('gone');
  fails = false;
  expect(await shared.ask()).toBe('back');
});
