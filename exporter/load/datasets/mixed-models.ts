import type { LoadPhase } from '../../../core/run/record.ts';
import type { ModelMix } from '../../../core/run/run.ts';
import { seededRandom } from '../../../core/stats/seeded-random.ts';
import type { GenerationRequest } from '../endpoints/endpoint.ts';
import { planSha256, type Conversation, type Dataset } from './dataset.ts';

/**
 * The dataset with a model for each request, or for all turns of each conversation: by its position alone, so that every
 * worker and shard chooses the same. Payloads of a file lose their own model. The probe keeps that of the options.
 */
export function withModels(dataset: Dataset, mix: ModelMix, seed: number): Dataset {
  const draw = new StratifiedDraw(seed);
  const modelAt = (phase: LoadPhase, position: number): string => chosenModel(mix, draw, phase, position);
  const { conversation, shared } = dataset;
  return {
    ...dataset,
    planSha256: planSha256({ dataset: dataset.planSha256, models: JSON.stringify(mix), seed: seedOf(mix, seed) }),
    request(phase, position) {
      const request = dataset.request(phase, position);
      return phase === 'probe' ? request : forModel(request, modelAt(phase, position));
    },
    // Each model has a cache of its own.
    ...(shared === undefined
      ? {}
      : {
          shared: (phase, position) => {
            const model = phase === 'probe' ? (mix.models[0]?.model ?? '') : modelAt(phase, position);
            const segment = { key: `model/${model}`, tokens: 0 };
            return shared(phase, position).map((reuse) => ({ ...reuse, segments: [segment, ...reuse.segments] }));
          },
        }),
    ...(conversation === undefined
      ? {}
      : {
          conversation: (phase, position) => conversationWith(conversation(phase, position), modelAt(phase, position)),
        }),
  };
}

const seedOf = ({ selection }: ModelMix, seed: number): number | null => (selection === 'random' ? seed : null);

const STRATA = 100;

/** A number in [0, 1) by position: each hundred positions has one in every hundredth, so that shares hold in short runs too. */
class StratifiedDraw {
  readonly #seed: number;
  #block = '';
  #numbers: readonly number[] = [];

  constructor(seed: number) {
    this.#seed = seed;
  }

  at(phase: LoadPhase, position: number): number {
    const block = `${this.#seed}/model/${phase}/${Math.floor(position / STRATA)}`;
    if (block !== this.#block) {
      const random = seededRandom(block);
      const keyed = Array.from({ length: STRATA }, (_, i) => ({ value: (i + random()) / STRATA, key: random() }));
      this.#numbers = keyed.sort((a, b) => a.key - b.key).map(({ value }) => value);
      this.#block = block;
    }
    return this.#numbers[position % STRATA] ?? 0;
  }
}

function chosenModel(
  { models, selection }: ModelMix,
  draw: StratifiedDraw,
  phase: LoadPhase,
  position: number,
): string {
  if (selection === 'round_robin') return models[position % models.length]?.model ?? '';
  let left = draw.at(phase, position);
  return (models.find(({ share }) => (left -= share) < 0) ?? models.at(-1))?.model ?? '';
}

function conversationWith(conversation: Conversation, model: string): Conversation {
  return {
    ...conversation,
    request: (turn, responses) => forModel(conversation.request(turn, responses), model),
  };
}

function forModel(request: GenerationRequest, model: string): GenerationRequest {
  const { payload } = request;
  return { ...request, model, ...(payload === undefined ? {} : { payload: { ...payload, model } }) };
}
