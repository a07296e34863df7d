import { expect, test } from '@jest/globals';
import type { ModelMix } from '../../../core/run/run.ts';
import type { Dataset } from './dataset.ts';
import { withModels } from './mixed-models.ts';
import { syntheticDataset } from './synthetic-dataset.ts';

const OPTIONS = { inputTokens: 4, outputTokens: 8, seed: 1 };
const PLAIN = syntheticDataset(OPTIONS);
const mix = (selection: ModelMix['selection'], ...shares: number[]): ModelMix => ({
  selection,
  models: shares.map((share, i) => ({ model: 'abc'.charAt(i), share })),
});
const modelsOf = (dataset: Dataset, count: number): (string | undefined)[] =>
  Array.from({ length: count }, (_, position) => dataset.request('measure', position).model);

test('in turn, each model has every n-th request', () => {
  expect(modelsOf(withModels(PLAIN, mix('round_robin', 1 / 3, 1 / 3, 1 / 3), 0), 7).join('')).toBe('abcabca');
});

test('by weights, every hundred requests has the shares, the same in every worker and in another order with another seed', () => {
  const first = modelsOf(withModels(PLAIN, mix('random', 0.7, 0.3), 5), 4000);
  const inHundreds = Array.from({ length: 40 }, (_, i) =>
    first.slice(i * 100, (i + 1) * 100).filter((model) => model === 'a'),
  );
  expect(new Set(inHundreds.map(({ length }) => length))).toEqual(new Set([70]));
  expect(first.slice(0, 100)).not.toEqual(first.slice(100, 200));
  expect(modelsOf(withModels(PLAIN, mix('random', 0.7, 0.3), 5), 4000)).toEqual(first);
  expect(modelsOf(withModels(PLAIN, mix('random', 0.7, 0.3), 6), 4000)).not.toEqual(first);
});

test('all turns of a conversation go to one model, and the probe to that of the options', () => {
  const turns = { mean: 3, stddev: 0 };
  const conversations = { turns, delay: { mean: 0, stddev: 0, ratio: 1 } };
  const dataset = withModels(syntheticDataset({ ...OPTIONS, conversations }), mix('round_robin', 0.5, 0.5), 0);
  const models = [0, 1].map((position) => {
    const conversation = dataset.conversation?.('measure', position);
    return [0, 1, 2].map((turn) => conversation?.request(turn, ['x', 'y'].slice(0, turn)).model).join('');
  });
  expect(models).toEqual(['aaa', 'bbb']);
  expect(dataset.request('probe', 0).model).toBeUndefined();
});

test('the model of a prepared payload is replaced, and the plan is another one', () => {
  const payload = { model: 'of the file', messages: [] };
  const dataset: Dataset = { ...PLAIN, request: () => ({ prompt: '', max_tokens: 1, payload }) };
  const mixed = withModels(dataset, mix('round_robin', 0.5, 0.5), 0);
  expect(mixed.request('measure', 1)).toMatchObject({ model: 'b', payload: { model: 'b' } });
  expect(mixed.planSha256).not.toBe(dataset.planSha256);
});
