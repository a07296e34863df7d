/** The models, or adapters of a model, that the requests of one run are for. */
export interface ModelMix {
  /** Their shares add up to 1. */
  readonly models: readonly ModelShare[];
  /** `round_robin`: in turn; `random`: each request by the shares. */
  readonly selection: ModelSelection;
}

export interface ModelShare {
  /** Its name in requests. */
  readonly model: string;
  /** Planned part of the requests, or of the conversations, 0 to 1. */
  readonly share: number;
}

export const MODEL_SELECTIONS = ['round_robin', 'random'] as const;
export type ModelSelection = (typeof MODEL_SELECTIONS)[number];

const NAMED = 4;

/** The names for people and labels: all of a few, else the first ones and how many more there are. */
export function modelNamesText(models: readonly string[]): string {
  if (models.length <= NAMED) return models.join(', ');
  return `${models.slice(0, NAMED - 1).join(', ')} and ${models.length - NAMED + 1} more`;
}

/** Most models that results and metrics distinguish; the rest together is `OTHER_MODELS`. */
const MAX_DISTINGUISHED = 16;
export const OTHER_MODELS = 'other';

/** The models that are distinguished, in their order: all of a few, else those with the largest shares, and the rest as one. */
export function distinguishedModels(mix: ModelMix | undefined): readonly string[] {
  const models = mix?.models ?? [];
  if (models.length <= MAX_DISTINGUISHED) return models.map(({ model }) => model);
  const largest = [...models].sort((a, b) => b.share - a.share).slice(0, MAX_DISTINGUISHED - 1);
  return [...models.filter((each) => largest.includes(each)).map(({ model }) => model), OTHER_MODELS];
}
