import type { BlockLife } from '../engine/blocks.ts';
import type {
  AbortedEvent,
  DraftCounts,
  EngineEvent,
  EngineState,
  FinishedEvent,
  PreemptedEvent,
  RequestProgress,
  ScheduledEvent,
  TokenEvent,
} from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { KV_BYTES_PER_TOKEN } from '../engine/parameters.ts';

// What a family of a catalog can follow, by the names that `follows` has there. All values are in base units; a family
// in another unit has a factor.

/** A value that something in a server gives. `value` is null when this time there is none. */
export interface Signal {
  readonly occasion: string;
  readonly value: (event: never, parameters: EngineParameters) => number | null;
  /** Whether it is a level or a total so far: a counter takes it over instead of adding it. */
  readonly isTotal: boolean;
}

export type Signals = Readonly<Record<string, Signal>>;

type Values<E> = Readonly<Record<string, (event: E, parameters: EngineParameters) => number | null>>;

const signals = <E>(occasion: string, values: Values<E>, isTotal: boolean): Signals =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { occasion, value, isTotal }]));

/** Signals of what happens: a counter adds them up, a histogram observes them. */
export const on = <E>(occasion: string, values: Values<E>): Signals => signals(occasion, values, false);

/** Signals of what is: gauges, and totals since the start. */
export const at = <E>(occasion: string, values: Values<E>): Signals => signals(occasion, values, true);

export const seconds = (from_ns: number, to_ns: number): number => (to_ns - from_ns) * 1e-9;

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** What became of the draft tokens of one step at one position of their drafts. */
export interface DraftPosition {
  readonly position: number;
  readonly accepted: number;
  readonly drafted: number;
}

/** Reports the occasions that an event of the engine is. */
export function reportOccasions(event: EngineEvent, to: { report(occasion: string, event: unknown): void }): void {
  switch (event.kind) {
    case 'token':
      to.report('token', event);
      if (event.index > 0) return;
      to.report('first_token', event);
      to.report('first_output', event);
      return;
    case 'scheduled':
      if (!event.resumed) to.report('admitted', event);
      return;
    case 'finished':
      // The vector of a request that generates no token.
      if (event.request.generatedTokens === 0) to.report('first_output', event);
      to.report('finished', event);
      to.report('ended', event);
      return;
    case 'aborted':
      to.report('aborted', event);
      to.report('ended', event);
      return;
    case 'preempted':
      to.report('preempted', event);
      return;
    case 'kv-traffic':
      to.report('kv_traffic', event);
      for (const life of event.lives) {
        to.report('block_life', life);
        for (const gap_ns of life.reuseGaps_ns) to.report('block_reuse', gap_ns);
      }
      return;
    case 'step':
      to.report('step', event);
      if (event.drafts === null || event.drafts.sequences === 0) return;
      to.report('drafts', event.drafts);
      for (const [position, accepted] of event.drafts.acceptedByPosition.entries()) {
        to.report('draft_position', { position, accepted, drafted: event.drafts.sequences } satisfies DraftPosition);
      }
  }
}

/** A number above zero; null: nothing was moved. */
export const ifAny = (value: number): number | null => (value > 0 ? value : null);

/** Time to load what came back from the offload tiers, by blocks of each. */
export const loadSeconds = (blocks: readonly number[], { offloadTiers }: EngineParameters): number =>
  sum(
    offloadTiers.map(({ loadMillisecondsPerBlock }, tier) => ((blocks[tier] ?? 0) * loadMillisecondsPerBlock) / 1000),
  );

export const blockBytes = ({ blockSize }: EngineParameters): number => blockSize * KV_BYTES_PER_TOKEN;

/** Prompt tokens that were found on the device. */
export const deviceTokens = ({ cachedTokens, offloadedTokens }: RequestProgress): number =>
  cachedTokens - sum(offloadedTokens);

/** The signals of every engine. */
export const ENGINE_SIGNALS: Signals = {
  ...at<undefined>('start', {
    block_size: (_, { blockSize }) => blockSize,
    kv_blocks: (_, { numKvBlocks }) => numKvBlocks,
    kv_tokens: (_, { numKvBlocks, blockSize }) => numKvBlocks * blockSize,
    max_model_length: (_, { maxModelLen }) => maxModelLen,
  }),
  ...at<EngineState>('state', {
    running: ({ running }) => running,
    waiting: ({ waiting }) => waiting,
    kv_usage: ({ usedKvBlocks, numKvBlocks }) => usedKvBlocks / numKvBlocks,
  }),
  ...on<ScheduledEvent>('admitted', {
    admitted_prompt_tokens: ({ request }) => request.promptTokens,
    admitted_device_tokens: ({ request }) => deviceTokens(request),
    admitted_offloaded_tokens: ({ request }) => sum(request.offloadedTokens),
    admission_queue_time: ({ request, time_ns }) => seconds(request.arrival_ns, time_ns),
  }),
  ...on<PreemptedEvent>('preempted', {
    preemptions: () => 1,
    preempted_prompt_tokens: ({ request }) => request.promptTokens,
    preempted_output_tokens: ({ generatedTokens }) => generatedTokens,
  }),
  ...on<TokenEvent>('token', {
    output_tokens: () => 1,
    token_gap: ({ time_ns, previous_ns }) => (previous_ns === null ? null : seconds(previous_ns, time_ns)),
    // Tokens that one step gave to a request are one output, with one gap before it.
    output_gap: ({ time_ns, previous_ns }) =>
      previous_ns === null || previous_ns === time_ns ? null : seconds(previous_ns, time_ns),
  }),
  ...on<TokenEvent | FinishedEvent>('first_output', {
    ttft: ({ request, time_ns }) => seconds(request.arrival_ns, time_ns),
    prefilled_tokens: ({ request }) => request.promptTokens,
    prefilled_computed_tokens: ({ request }) => request.promptTokens - request.cachedTokens,
    prefilled_cached_tokens: ({ request }) => request.cachedTokens,
    prefilled_device_tokens: ({ request }) => deviceTokens(request),
    prefilled_offloaded_tokens: ({ request }) => sum(request.offloadedTokens),
  }),
  ...on<FinishedEvent>('finished', {
    finished: () => 1,
    finished_by_length: ({ request }) => (request.finishReason === 'length' ? 1 : null),
    finished_by_stop: ({ request }) => (request.finishReason === 'stop' ? 1 : null),
    finished_prompt_tokens: ({ request }) => request.promptTokens,
    finished_computed_tokens: ({ request }) => request.promptTokens - request.cachedTokens,
    finished_output_tokens: ({ request }) => request.generatedTokens,
    finished_preemptions: ({ request }) => request.preemptions,
    // Only a request that requested a number of tokens has one.
    requested_output_tokens: ({ request }) => (request.finishReason === 'length' ? request.outputTokens : null),
    // 0 without a gap.
    time_per_gap: ({ request, time_ns }) =>
      seconds(request.firstToken_ns ?? time_ns, time_ns) / Math.max(1, request.generatedTokens - 1),
    e2e_time: ({ request, time_ns }) => seconds(request.arrival_ns, time_ns),
    queue_time: ({ request, time_ns }) => seconds(request.arrival_ns, request.scheduled_ns ?? time_ns),
    inference_time: ({ request, time_ns }) => seconds(request.scheduled_ns ?? time_ns, time_ns),
    prefill_time: ({ request, time_ns }) => seconds(request.scheduled_ns ?? time_ns, request.firstToken_ns ?? time_ns),
    decode_time: ({ request, time_ns }) => seconds(request.firstToken_ns ?? time_ns, time_ns),
  }),
  ...on<AbortedEvent>('aborted', { aborted: () => 1 }),
  ...on<BlockLife>('block_life', {
    block_lifetime: ({ lifetime_ns }) => lifetime_ns * 1e-9,
    block_idle_time: ({ idle_ns }) => idle_ns * 1e-9,
  }),
  ...on<number>('block_reuse', { block_reuse_gap: (gap_ns) => gap_ns * 1e-9 }),
  ...on<DraftCounts>('drafts', {
    drafts: ({ sequences }) => sequences,
    draft_tokens: ({ sequences, acceptedByPosition }) => sequences * acceptedByPosition.length,
  }),
  ...on<DraftPosition>('draft_position', {
    accepted_tokens_at_position: ({ accepted }) => accepted,
    draft_tokens_at_position: ({ drafted }) => drafted,
  }),
};
