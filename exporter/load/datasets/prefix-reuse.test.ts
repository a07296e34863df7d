import { expect, test } from '@jest/globals';
import type { LoadPhase } from '../../../core/run/record.ts';
import { possibleReuse } from './prefix-reuse.ts';
import { parsePrefixLevels, PathDraw } from './prefix-tree.ts';
import { seededRandom } from '../../../core/stats/seeded-random.ts';
import { syntheticDataset, type SyntheticOptions } from './synthetic-dataset.ts';

const dataset = (options: Partial<SyntheticOptions>) =>
  syntheticDataset({ inputTokens: 40, outputTokens: 8, seed: 1, ...options });
const tree = (text: string, zipfAlpha = 0) => ({ prefixes: { levels: parsePrefixLevels(text), zipfAlpha } });
const ratio = (options: Partial<SyntheticOptions>, sent: { warmup: number; measure: number }, block = 16): number => {
  const reuse = possibleReuse(dataset(options), sent, block);
  return (reuse?.cached ?? NaN) / (reuse?.prompt ?? NaN);
};

/** The words of the first turns as they are sent, with whole blocks found by comparing texts. */
function byTexts(options: Partial<SyntheticOptions>, sent: { warmup: number; measure: number }, block: number): number {
  const seen = new Set<string>();
  let [cached, prompt] = [0, 0];
  const add = (phase: LoadPhase | 'probe', position: number): void => {
    const { prompt: text, history = [] } = dataset(options).request(phase, position);
    const words = [...history.map(({ content }) => content), text].join(' ').split(' ');
    let hit = 0;
    for (let end = block; end <= words.length; end += block) {
      const beginning = words.slice(0, end).join(' ');
      if (seen.has(beginning) && end < words.length && hit === end - block) hit = end;
      seen.add(beginning);
    }
    if (phase !== 'measure') return;
    cached += hit;
    prompt += words.length;
  };
  add('probe', 0);
  for (const phase of ['warmup', 'measure'] as const) for (let i = 0; i < sent[phase]; i++) add(phase, i);
  return cached / prompt;
}

test.each([
  ['a system prompt', { systemPromptTokens: 64 }],
  ['prefixes, not in whole blocks', tree('5x60')],
  ['popular prefixes of a tree', tree('3x50,4x33', 1)],
  ['a tree behind a system prompt, primed', { systemPromptTokens: 20, primed: true, ...tree('2x20,2x20') }],
  ['requests that recur', { entries: 7 }],
])('%s: the plan states what a comparison of the texts finds', (_, options) => {
  const sent = { warmup: 4, measure: 60 };
  const found = byTexts(options, sent, 16);
  expect(found).toBeGreaterThan(0.1);
  expect(ratio(options, sent)).toBeCloseTo(found, 12);
});

test('by hand: 2 prefixes of 60 tokens and 40 of their own, primed: 3 blocks of 16 of 100 tokens', () => {
  expect(ratio({ primed: true, ...tree('2x60') }, { warmup: 2, measure: 50 })).toBe(0.48);
  expect(ratio({ primed: true, ...tree('2x60') }, { warmup: 2, measure: 50 }, 1)).toBe(0.6);
});

test('without priming the first request of each prefix computes it; the probe before the run is one of them', () => {
  const reuse = possibleReuse(dataset(tree('1x64')), { warmup: 0, measure: 10 }, 16);
  expect(reuse).toEqual({ cached: 640, prompt: 1040 });
  const other = possibleReuse(dataset({ systemPromptTokens: 64 }), { warmup: 0, measure: 1 }, 16);
  expect(other).toEqual({ cached: 64, prompt: 104 });
});

test('a turn reuses the earlier turns of its conversation, by their planned lengths', () => {
  const turns = { mean: 2, stddev: 0 };
  const conversations = { turns, delay: { mean: 0, stddev: 0, ratio: 1 } };
  // First turns of 40 tokens; second ones of 40 + 8 + 40, of which 48 were there.
  expect(possibleReuse(dataset({ conversations }), { warmup: 0, measure: 4 }, 16)).toEqual({ cached: 96, prompt: 256 });
});

test('what shares nothing on purpose states nothing', () => {
  expect(possibleReuse(dataset({}), { warmup: 0, measure: 10 }, 16)).toBeNull();
});

test('Zipf: three branches with alpha 1 are drawn as 6 : 3 : 2, within chance', () => {
  const draw = new PathDraw({ levels: [{ count: 3, tokens: 1 }], zipfAlpha: 1 });
  const random = seededRandom('zipf');
  const counts = [0, 0, 0];
  for (let i = 0; i < 11_000; i++) {
    const [branch = 0] = draw.draw(random);
    counts[branch] = (counts[branch] ?? 0) + 1;
  }
  for (const [i, share] of [6, 3, 2].entries())
    expect(Math.abs((counts[i] ?? 0) - share * 1000)).toBeLessThan(4 * Math.sqrt(share * 1000));
});

test.each([
  ['4', "'4' must be COUNTxTOKENS"],
  ['0x5', 'a count from 1'],
  ['1000x1,1000x1,10x1', '10000000 different prefixes; at most 1000000'],
])('--prefix-tree %s is refused', (text, message) => {
  expect(() => parsePrefixLevels(text)).toThrow(message);
});
