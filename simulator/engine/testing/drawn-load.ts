import fc from 'fast-check';

import type { ServerProfile } from '../../start.ts';
import { Engine } from '../engine.ts';
import type { EngineState, EngineEvent, EngineRequest } from '../events.ts';
import { DEFAULT_ENGINE_PARAMETERS } from '../parameters.ts';
import type { EngineParameters } from '../parameters.ts';

// For property tests of profiles: any load on a small engine, and what a page says of it at any moment.

const MS = 1e6;
const PORTION_NS = 25 * MS;

/** Small enough that requests queue, prompts are chunked, blocks run out and prefixes are found. */
export const TIGHT_PARAMETERS: EngineParameters = {
  ...DEFAULT_ENGINE_PARAMETERS,
  maxNumSeqs: 4,
  maxNumBatchedTokens: 32,
  maxModelLen: 64,
  numKvBlocks: 20,
  blockSize: 4,
  prefillMillisecondsPerToken: 1,
  stepBaseMilliseconds: 10,
  decodeMillisecondsPerSequence: 1,
  jitterRatio: 0.1,
  seed: 7,
};

export interface DrawnRequest extends Omit<EngineRequest, 'id'> {
  readonly abortAfter_ns: number | null;
}

export const drawnRequests: fc.Arbitrary<DrawnRequest[]> = fc.array(
  fc
    .record({
      arrival_ns: fc.integer({ min: 0, max: 500 * MS }),
      promptTokens: fc.integer({ min: 1, max: 40 }),
      // Prompts of one family begin alike.
      family: fc.integer({ min: 0, max: 2 }),
      outputTokens: fc.integer({ min: 1, max: 20 }),
      finishReason: fc.constantFrom('length' as const, 'stop' as const),
      streaming: fc.boolean(),
      abortAfter_ns: fc.option(fc.integer({ min: 1, max: 400 * MS })),
    })
    .map(({ family, ...request }) => ({
      ...request,
      promptBlockHashes: Array.from(
        { length: Math.floor(request.promptTokens / TIGHT_PARAMETERS.blockSize) },
        (_, block) => family * 100 + block,
      ),
    })),
  { minLength: 1, maxLength: 20 },
);

/** A time during or after the load. */
export const drawnMoment: fc.Arbitrary<number> = fc.integer({ min: 1, max: 120 }).map((n) => n * PORTION_NS);

/** What happened until a moment. */
export interface Happened {
  readonly events: readonly EngineEvent[];
  readonly state: EngineState;
}

/** Runs a load to `until_ns` in portions of 25 ms, showing each to the profile. */
export function runLoad(
  requests: readonly DrawnRequest[],
  until_ns: number,
  {
    profile,
    parameters = TIGHT_PARAMETERS,
  }: { profile: Pick<ServerProfile, 'observe'>; parameters?: EngineParameters },
): Happened {
  const engine = new Engine(parameters);
  requests.forEach(({ abortAfter_ns, ...request }, i) => {
    const id = `r${i}`;
    engine.submit({ id, ...request });
    if (abortAfter_ns !== null) engine.abort(id, request.arrival_ns + abortAfter_ns);
  });
  const events: EngineEvent[] = [];
  for (let t = PORTION_NS; t <= until_ns; t += PORTION_NS) {
    const portion = engine.advanceTo(t);
    profile.observe(portion);
    events.push(...portion);
  }
  return { events, state: engine.state };
}
