import { expect, test } from '@jest/globals';
import { withinText } from './sweep-names.ts';

const WITHIN = { holds: 64, fails: 1024, monotonic: true };

test.each([
  [WITHIN, 'met up to 64, not met from 1,024'],
  [{ ...WITHIN, fails: null }, 'met up to 64'],
  [{ ...WITHIN, holds: null }, 'met at no load, not met from 1,024'],
  [{ ...WITHIN, holds: null, fails: null }, 'undecided at every load'],
  [{ ...WITHIN, monotonic: false }, 'met up to 64, not met from 1,024, met again above: not monotonic'],
  [{ ...WITHIN, confidence: 0.95 }, 'met up to 64, not met from 1,024, 95 % confidence'],
])('%o is %s', (within, expected) => {
  expect(withinText(within)).toBe(expected);
});
