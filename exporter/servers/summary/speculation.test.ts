import { expect, test } from '@jest/globals';
import { collectionOfStores } from '../testing/aiperf-collection.ts';
import { pagesOf, replay } from '../testing/replay.ts';
import { acceptanceUnknown, speculationCounts } from './cache-signs.ts';

const counter = (name: string, value: number, labels = ''): string =>
  `# TYPE ${name} counter\n${name}${labels === '' ? '' : `{${labels}}`} ${value}`;
const collected = (...replicas: (readonly string[])[]) =>
  collectionOfStores(new Map(replicas.map((pages, i) => [`http://worker-${i}/metrics`, replay(pagesOf(...pages))])), {
    zeroWall_ns: 0n,
    window: { start_ns: 0, end_ns: 1e9 },
    definitions: 'llmbench',
    slice_ns: null,
  });

const vllm = (drafts: number, tokens: number, positions: readonly number[]): string =>
  [
    counter('vllm:spec_decode_num_drafts_total', drafts),
    counter('vllm:spec_decode_num_draft_tokens_total', tokens),
    counter(
      'vllm:spec_decode_num_accepted_tokens_total',
      positions.reduce((sum, n) => sum + n, 0),
    ),
    '# TYPE vllm:spec_decode_num_accepted_tokens_per_pos_total counter',
    ...positions.map((n, i) => `vllm:spec_decode_num_accepted_tokens_per_pos_total{position="${i}"} ${n}`),
  ].join('\n');

test('vLLM: the increase in the window, summed over replicas', () => {
  // The first replica: 100 drafts of 3, of which 60, 30 and 10 tokens; the second: 50 drafts of 3, of which 40, 0 and 0.
  const replicas = [
    [vllm(7, 21, [5, 4, 3]), vllm(107, 321, [65, 34, 13])],
    [vllm(0, 0, [0, 0, 0]), vllm(50, 150, [40, 0, 0])],
  ] as const;
  expect(speculationCounts(collected(...replicas))).toEqual({
    drafts: 150,
    draft_tokens: 450,
    accepted_tokens: 140,
    accepted_by_position: [100, 30, 10],
  });
});

test('TensorRT-LLM: each draft has a token at position 0, and a position is absent until something was accepted there', () => {
  const page = (drafted: readonly number[], accepted: readonly number[]): string =>
    [
      '# TYPE trtllm_spec_decode_drafted_tokens_total counter',
      ...drafted.map((n, i) => `trtllm_spec_decode_drafted_tokens_total{token_position="${i}"} ${n}`),
      '# TYPE trtllm_spec_decode_accepted_tokens_total counter',
      ...accepted.map((n, i) => `trtllm_spec_decode_accepted_tokens_total{token_position="${i}"} ${n}`),
    ].join('\n');
  expect(speculationCounts(collected([page([10, 10], [5]), page([110, 90], [65, 20])]))).toEqual({
    drafts: 100,
    draft_tokens: 180,
    accepted_tokens: 80,
    accepted_by_position: [60, 20],
  });
  expect(speculationCounts(collected([page([10, 10], []), page([20, 20], [])]))?.accepted_tokens).toBe(0);
});

test('positions that are no numbers of a draft are not counted by position', () => {
  const page = (accepted: number): string =>
    `${vllm(accepted, 3 * accepted, [accepted])}\nvllm:spec_decode_num_accepted_tokens_per_pos_total{position="4e9"} ${accepted}`;
  expect(speculationCounts(collected([page(1), page(9)]))).toMatchObject({ drafts: 8, accepted_by_position: null });
});

test('vLLM without a count of accepted tokens has no acceptance', () => {
  const page = (drafts: number): string =>
    [
      counter('vllm:spec_decode_num_drafts_total', drafts),
      counter('vllm:spec_decode_num_draft_tokens_total', 3 * drafts),
    ].join('\n');
  expect(speculationCounts(collected([page(1), page(9)]))).toBeNull();
});

test('a server without speculative decoding has no counts, and needs no remark', () => {
  const plain = collected([counter('vllm:generation_tokens_total', 1), counter('vllm:generation_tokens_total', 9)]);
  expect(speculationCounts(plain)).toBeNull();
  expect(acceptanceUnknown(plain)).toEqual([]);
});

test('SGLang counts no accepted tokens: unknown, with a remark once it verified drafts', () => {
  const page = (calls: number): string =>
    [
      counter('sglang:spec_verify_calls_total', calls, 'model_name="m"'),
      '# TYPE sglang:spec_accept_length gauge\nsglang:spec_accept_length{model_name="m"} 2.5',
    ].join('\n');
  expect(speculationCounts(collected([page(0), page(40)]))).toBeNull();
  expect(acceptanceUnknown(collected([page(0), page(40)]))).toEqual([
    expect.stringMatching(/acceptance is not measured$/),
  ]);
  expect(acceptanceUnknown(collected([page(40), page(40)]))).toEqual([]);
});
