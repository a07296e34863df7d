import type { EngineParameters } from '../engine/parameters.ts';
import type { TrtllmFamilies } from './families.ts';
import type { Iteration } from './iteration.ts';
import { commonLabels } from './labels.ts';

/** Draft tokens by their position, the same tokens as the counters of the iterations. */
export class TrtllmDraftMetrics {
  readonly #families: TrtllmFamilies;
  readonly #modelName: string;
  readonly #positions: number;

  constructor(families: TrtllmFamilies, modelName: string, { speculation }: EngineParameters) {
    this.#families = families;
    this.#modelName = modelName;
    this.#positions = speculation?.draftTokens ?? 0;
  }

  observe({ drafts }: Iteration): void {
    if (drafts === null || drafts.sequences === 0) return;
    for (let position = 0; position < this.#positions; position++) {
      const labels = { ...commonLabels(this.#modelName), token_position: `${position}` };
      this.#families.counter('trtllm_spec_decode_drafted_tokens_total').series(labels).add(drafts.sequences);
      this.#families
        .counter('trtllm_spec_decode_accepted_tokens_total')
        .series(labels)
        .add(drafts.acceptedByPosition[position] ?? 0);
    }
  }
}
