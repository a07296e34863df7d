import type { EngineEvent } from '../engine/events.ts';
import type { Speculation } from '../engine/parameters.ts';
import type { Labels } from '../metrics/family.ts';
import type { Scalar } from '../metrics/series.ts';
import type { VllmFamilies } from './families.ts';

/** What vLLM counts of speculative decoding: each request in its decode phase has one draft per step. */
export class VllmDraftMetrics {
  readonly #draftTokens: number;
  readonly #drafts: Scalar;
  readonly #drafted: Scalar;
  readonly #accepted: Scalar;
  readonly #acceptedByPosition: readonly Scalar[];

  constructor(families: VllmFamilies, labels: Labels, { draftTokens }: Speculation) {
    const counter = (name: string, own: Labels = {}): Scalar =>
      families.counter(`vllm:spec_decode_num_${name}_total`).series({ ...labels, ...own });
    this.#draftTokens = draftTokens;
    this.#drafts = counter('drafts');
    this.#drafted = counter('draft_tokens');
    this.#accepted = counter('accepted_tokens');
    this.#acceptedByPosition = Array.from({ length: draftTokens }, (_, position) =>
      counter('accepted_tokens_per_pos', { position: `${position}` }),
    );
  }

  observe(event: EngineEvent): void {
    if (event.kind !== 'step' || event.drafts === null) return;
    const { sequences, acceptedByPosition } = event.drafts;
    this.#drafts.add(sequences);
    this.#drafted.add(sequences * this.#draftTokens);
    for (const [position, tokens] of acceptedByPosition.entries()) {
      this.#accepted.add(tokens);
      this.#acceptedByPosition[position]?.add(tokens);
    }
  }
}
