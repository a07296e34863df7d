import { expect, test } from '@jest/globals';
import { examplePlan } from './fixtures/example-run.ts';
import { fingerprint } from './fingerprint.ts';

const { comparison_key } = examplePlan();

test('SHA-256 of the canonical JSON', () => {
  // Calculated with Python: json.dumps(key, sort_keys=True, separators=(',', ':')), hashlib.sha256.
  expect(fingerprint(comparison_key)).toBe('361369761fb8691eb15b0db6b8ad3ec6b9b9786757cf9b869e4c379ed3d868ad');
});

test('depends on every value, not on the order of members', () => {
  const reversed = Object.fromEntries(Object.entries(comparison_key).reverse()) as unknown as typeof comparison_key;
  expect(fingerprint(reversed)).toBe(fingerprint(comparison_key));
  const changed = { ...comparison_key, sampling: { ...comparison_key.sampling, seed: 1 } };
  expect(fingerprint(changed)).not.toBe(fingerprint(comparison_key));
});
