import { expect, test } from '@jest/globals';

import { Engine } from './engine.ts';
import type { EngineEvent } from './events.ts';
import { DEFAULT_ENGINE_PARAMETERS } from './parameters.ts';

const MS = 1e6;

function run(acceptanceRatio: number, outputTokens: number): EngineEvent[] {
  const engine = new Engine({
    ...DEFAULT_ENGINE_PARAMETERS,
    prefillMillisecondsPerToken: 1,
    stepBaseMilliseconds: 10,
    decodeMillisecondsPerSequence: 2,
    jitterRatio: 0,
    speculation: { draftTokens: 3, acceptanceRatio },
  });
  engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 10, outputTokens });
  return engine.advanceTo(1e12);
}

const tokenTimes = (events: readonly EngineEvent[]): number[] =>
  events.flatMap((event) => (event.kind === 'token' ? [event.time_ns / MS] : []));

const drafts = (events: readonly EngineEvent[]) =>
  events.flatMap((event) => (event.kind === 'step' ? [event.drafts] : []));

test('all right: four tokens per decode step, never more than the limit', () => {
  const events = run(1, 7);
  // 10 + 10 for the prompt and its token; 12 per decode step: four tokens, then the last two.
  expect(tokenTimes(events)).toEqual([20, 32, 32, 32, 32, 44, 44]);
  expect(drafts(events)).toEqual([
    { sequences: 0, acceptedByPosition: [0, 0, 0] },
    { sequences: 1, acceptedByPosition: [1, 1, 1] },
    { sequences: 1, acceptedByPosition: [1, 0, 0] },
  ]);
  expect(events.at(-1)?.kind).toBe('finished');
});

test('all wrong: one token per step, as without drafts', () => {
  expect(tokenTimes(run(0, 3))).toEqual([20, 32, 44]);
});
