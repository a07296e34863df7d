import { expect, test } from '@jest/globals';
import { acceptanceByPosition, speculationResults } from './scalar-results.ts';

const valuesOf = (counts: Parameters<typeof speculationResults>[0]) =>
  Object.fromEntries(speculationResults(counts).map(({ measure, value }) => [measure, value]));

test('rate and length by hand: of 150 drafts of 3 tokens, 140 tokens were accepted', () => {
  const counts = { drafts: 150, draft_tokens: 450, accepted_tokens: 140, accepted_by_position: [100, 30, 10] };
  const found = valuesOf(counts);
  expect(found['speculative_acceptance_rate']).toBeCloseTo(0.31111, 5);
  // vLLM's "mean acceptance length": 1 + accepted ÷ drafts.
  expect(found['speculative_acceptance_length']).toBeCloseTo(1.93333, 5);
  expect(acceptanceByPosition(counts)).toEqual([100 / 150, 0.2, 10 / 150]);
});

test('nothing drafted is unknown, not 0; nothing accepted is a rate of 0 and a length of 1', () => {
  const none = { drafts: 0, draft_tokens: 0, accepted_tokens: 0, accepted_by_position: null };
  expect(valuesOf(none)).toEqual({ speculative_acceptance_rate: null, speculative_acceptance_length: null });
  expect(acceptanceByPosition(none)).toBeNull();
  expect(valuesOf({ ...none, drafts: 10, draft_tokens: 30 })).toEqual({
    speculative_acceptance_rate: 0,
    speculative_acceptance_length: 1,
  });
  expect(speculationResults(null)).toEqual([]);
});
