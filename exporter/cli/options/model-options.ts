import { MODEL_SELECTIONS, type ModelMix, type ModelShare } from '../../../core/run/run.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { CliError } from '../failure.ts';
import { choice, list, number, texts, type OptionValues } from './options.ts';

/** What the requests are for. The names are those of `aiperf profile` where the meaning is the same. */
export const MODEL_OPTIONS = {
  model: list(
    texts(
      'NAME[:WEIGHT]',
      'name of the model on the server (default: the only one that it lists); several models or LoRA adapters share the requests, by their weights if they have any',
    ),
  ),
  'model-selection-strategy': choice(
    MODEL_SELECTIONS,
    'how several models share the requests (default: random with weights, else round_robin)',
    null,
  ),
  'model-zipf-alpha': number(
    'ALPHA',
    'popularity of several models: the share of the n-th is proportional to 1 / n^ALPHA',
    { min: 0, max: 10 },
    null,
  ),
};

const MAX_MODELS = 1000;

/** The first model, and all of several with their shares. Throws a `CliError`. */
export function requestedModels(options: OptionValues<typeof MODEL_OPTIONS>): Pick<RunRequest, 'model' | 'models'> {
  const given = modelTexts(options.model);
  const { 'model-selection-strategy': strategy, 'model-zipf-alpha': alpha } = options;
  const [first] = given;
  if (first === undefined) throw new CliError('--model is required; the server lists its models at /v1/models');
  if (given.length === 1) {
    const unused = strategy !== null ? 'model-selection-strategy' : alpha !== null ? 'model-zipf-alpha' : null;
    if (unused !== null) throw new CliError(`--${unused} requires several models: --model a --model b`);
    return { model: first };
  }
  if (given.length > MAX_MODELS) throw new CliError(`--model: ${given.length} models; at most ${MAX_MODELS}`);
  const weighted = weightedModels(given);
  const isWeighted = weighted !== null;
  if (isWeighted && alpha !== null) throw new CliError('--model-zipf-alpha sets the weights: remove those of --model');
  const selection = strategy ?? (isWeighted || alpha !== null ? 'random' : 'round_robin');
  if (selection === 'round_robin' && (isWeighted || alpha !== null))
    throw new CliError('--model-selection-strategy round_robin gives all models the same share: use random');
  const named = weighted ?? given.map((model, i) => ({ model, share: 1 / (i + 1) ** (alpha ?? 0) }));
  const twice = named.find(({ model }, i) => named.findIndex((other) => other.model === model) !== i);
  if (twice !== undefined) throw new CliError(`--model names ${twice.model} twice`);
  const models: ModelMix = { models: withShares(named), selection };
  return { model: named[0]?.model ?? first, models };
}

/** Also several in one value, with commas. */
export const modelTexts = (given: readonly string[]): readonly string[] =>
  given.flatMap((text) => text.split(',').map((name) => name.trim())).filter((name) => name !== '');

/** Null: none has a weight. Throws a `CliError` when some do. */
function weightedModels(given: readonly string[]): readonly ModelShare[] | null {
  const weighted = given.map((text) => /^(.+):(\d+(?:\.\d+)?%?)$/.exec(text));
  if (weighted.every((found) => found === null)) return null;
  const without = given.find((_, i) => weighted[i] === null);
  if (without !== undefined)
    throw new CliError(
      `--model: ${without} has no weight, and others have one: give each a weight, as in ${without}:1`,
    );
  const models = weighted.map((found) => ({ model: found?.[1] ?? '', share: parseFloat(found?.[2] ?? '') }));
  const zero = models.find(({ share }) => share === 0);
  if (zero !== undefined) throw new CliError(`--model: the weight of ${zero.model} is 0 and must be above 0`);
  return models;
}

function withShares(models: readonly ModelShare[]): readonly ModelShare[] {
  const sum = models.reduce((total, { share }) => total + share, 0);
  return models.map(({ model, share }) => ({ model, share: share / sum }));
}
