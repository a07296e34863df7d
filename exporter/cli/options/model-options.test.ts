import { expect, test } from '@jest/globals';
import { MODEL_OPTIONS, requestedModels } from './model-options.ts';
import { readOptions } from './options.ts';

const models = (...argv: string[]) => requestedModels(readOptions(MODEL_OPTIONS, argv, {}));

test('one name is a model, whatever it contains', () => {
  expect(models('--model', 'qwen2.5:7')).toEqual({ model: 'qwen2.5:7' });
});

test('weights are shares of their sum, and names may have colons of their own', () => {
  expect(models('--model', 'llama3:8b:7', '--model', 'base:lora-1:3')).toEqual({
    model: 'llama3:8b',
    models: {
      models: [
        { model: 'llama3:8b', share: 0.7 },
        { model: 'base:lora-1', share: 0.3 },
      ],
      selection: 'random',
    },
  });
});

test('without weights in turn, as AIPerf; also several in one value', () => {
  expect(models('--model', 'a,b').models).toEqual({
    models: [
      { model: 'a', share: 0.5 },
      { model: 'b', share: 0.5 },
    ],
    selection: 'round_robin',
  });
});

test('Zipf: the shares of three models with alpha 1 are as 6 : 3 : 2', () => {
  const shares = models('--model', 'a', 'b', 'c', '--model-zipf-alpha', '1').models?.models.map(({ share }) => share);
  expect(shares?.map((share) => Number((share * 11).toFixed(9)))).toEqual([6, 3, 2]);
});

test.each([
  [['--model', 'a:1', 'b'], '--model: b has no weight, and others have one: give each a weight, as in b:1'],
  [['--model', 'a', 'a'], '--model names a twice'],
  [['--model', 'a:0', 'b:1'], 'the weight of a is 0 and must be above 0'],
  [['--model', 'a', '--model-zipf-alpha', '1'], '--model-zipf-alpha requires several models'],
  [['--model', 'a:1', 'b:1', '--model-zipf-alpha', '1'], 'remove those of --model'],
  [
    ['--model', 'a:1', 'b:3', '--model-selection-strategy', 'round_robin'],
    'round_robin gives all models the same share: use random',
  ],
  [[], '--model is required'],
])('%j is refused', (argv, message) => {
  expect(() => models(...argv)).toThrow(message);
});
