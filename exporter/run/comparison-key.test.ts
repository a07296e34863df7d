import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { canonicalJson } from '../../core/run/canonical-json.ts';
import type { PlannedLoad } from './planned-load.ts';
import { comparisonKey } from './comparison-key.ts';
import type { RunRequest } from './run-request.ts';

const request = {
  model: 'm',
  cancellation: null,
  measure: { requestCount: 10, durationSeconds: null },
  sampling: {},
  traffic: {},
} as unknown as RunRequest;

const planned = {
  warmup: null,
  planSha256: 'f'.repeat(64),
  measure: { load: { concurrency: 4, prefillConcurrency: null, arrivals: null } },
} as unknown as PlannedLoad;

test('a measure that a later version adds changes no fingerprint', () => {
  const { measure_definitions } = comparisonKey(request, 'chat', planned);
  // Of the runs that were made before cached_input_tokens and others were measures. A definition that is changed on purpose
  // changes it, and then runs of the old and of the new one are not comparable.
  expect(createHash('sha256').update(canonicalJson(measure_definitions)).digest('hex')).toBe(
    '37ca3a186aef7f8389a6ff74f65615b7f9994abb86a55827430de3e57f3114b8',
  );
});

test('output fields are in the key only when they were set', () => {
  expect(comparisonKey(request, 'chat', planned)).not.toHaveProperty('output_fields');
  const chosen = { ...request, traffic: { outputFields: ['answer'] } } as unknown as RunRequest;
  expect(comparisonKey(chosen, 'chat', planned)).toMatchObject({ output_fields: ['answer'] });
});
