import { expect, test } from '@jest/globals';
import fc from 'fast-check';

const { PROPERTY_SEED } = process.env;

test('properties are tested with one seed, unless PROPERTY_SEED is "fresh"', () => {
  const seed = PROPERTY_SEED === 'fresh' ? undefined : Number(PROPERTY_SEED ?? 1);
  expect(fc.readConfigureGlobal()?.seed).toBe(seed);
});
