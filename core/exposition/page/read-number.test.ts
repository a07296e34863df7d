import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { NumberReader, parseGoFloat } from './page-cursor.ts';

const numbers = new NumberReader();
const read = (text: string): number | undefined => numbers.readShort(new TextEncoder().encode(`${text}\n`), 0);

/** Right, or left to the careful parser. */
function expectRight(text: string): boolean {
  const value = read(text);
  if (value === undefined) return false;
  expect(value).toBe(Number(text));
  expect(numbers.end).toBe(text.length);
  return true;
}

describe('numbers as they stand in pages', () => {
  test('doubles in their shortest form are read, with any number of digits', () => {
    let known = 0;
    fc.assert(
      fc.property(fc.double({ min: 1e-4, max: 1e15, noNaN: true }), (value) => {
        if (expectRight(String(value))) known++;
      }),
      { numRuns: 5000 },
    );
    expect(known).toBeGreaterThan(3500);
  });

  test('any digits, any point, any exponent', () => {
    const digits = fc.stringMatching(/^[0-9]{1,19}$/);
    fc.assert(
      fc.property(
        digits,
        fc.nat(18),
        fc.integer({ min: -25, max: 25 }),
        fc.boolean(),
        (all, point, power, negative) => {
          const at = Math.min(point, all.length);
          const mantissa = `${all.slice(0, at)}.${all.slice(at)}`;
          expectRight(`${negative ? '-' : ''}${mantissa}${power === 0 ? '' : `e${power}`}`);
        },
      ),
      { numRuns: 20000 },
    );
  });

  test('at, and a little beside, the middle of two doubles', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n }), fc.integer({ min: -1, max: 1 }), (value, beside) => {
        // Doubles of this size are whole and apart by a power of 2: the middle of two of them is whole as well.
        const step = 2n ** BigInt(value.toString(2).length - 53);
        const middle = (value / step) * step + step / 2n + BigInt(beside);
        expectRight(String(middle));
        expectRight(`${String(middle).slice(0, 5)}.${String(middle).slice(5)}`);
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    '0.1234567890123456',
    '1.7952804839517844e+09',
    '-9007199254740993',
    '9007199254740992.5',
    '+12345678901234567',
  ])('%s as the careful parser', (text) => {
    expect([undefined, parseGoFloat(text)]).toContainEqual(read(text));
  });

  test.each(['', '.', '1e', '1 2 3'.slice(0, 0), 'x', '12345678901234567890', '1.5x', '1e1000'])(
    '%s is left to it',
    (text) => {
      expect(read(text)).toBeUndefined();
    },
  );
});
