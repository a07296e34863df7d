import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { equalBytes } from './byte-interner.ts';

test('says what a comparison byte by byte says, also for the bytes of NaN and of both zeros', () => {
  const bytes = fc.array(fc.constantFrom(0, 0x80, 0x7f, 0xff, 0xf8, 0x61), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(bytes, fc.nat(19), fc.constantFrom(0, 0x80, 0xff), fc.nat(7), (list, position, byte, shift) => {
      const a = Uint8Array.from(list);
      const b = Uint8Array.from(list, (old, i) => (i === position ? byte : old));
      const shifted = new Uint8Array(shift + b.length);
      shifted.set(b, shift);
      const expected = a.every((value, i) => value === b[i]);
      const got = equalBytes(new DataView(a.buffer), 0, new DataView(shifted.buffer), shift, a.length);
      expect(got).toBe(expected);
    }),
    { numRuns: 3000 },
  );
});
