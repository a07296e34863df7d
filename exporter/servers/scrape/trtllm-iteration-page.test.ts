import { describe, expect, test } from '@jest/globals';
import { parseText } from '../../../core/exposition/index.ts';
import { captureText } from '../../../fixtures/captures.ts';
import { IterationTotals, iterationRows } from './trtllm-iteration-page.ts';

function values(totals: IterationTotals): Record<string, number> {
  const page = parseText(totals.page());
  return Object.fromEntries(
    page.families.flatMap(({ samples }) =>
      samples.map(({ name, labels, value }) => [`${name}${JSON.stringify(labels)}`.replace('{}', ''), value]),
    ),
  );
}

describe('recognizes iteration statistics', () => {
  test.each([
    ['[]', 0],
    ['[{"iter":1}]', 1],
    ['{}', null],
    ['[1]', null],
    ['[{"a":1}]', null],
    ['[{"iter":1}', null],
  ])('%s', (text, rows) => {
    expect(iterationRows(text)?.length ?? null).toBe(rows);
  });
});

test('counters sum rows, gauges have the newest value, histograms observe each row, windows have a label', () => {
  const totals = new IterationTotals();
  const row = (iter: number, latency: number, reused: number) => ({
    iter,
    iterLatencyMS: latency,
    numNewActiveRequests: iter,
    kvCacheStats: { usedNumBlocks: 10 * iter },
    inflightBatchingStats: null,
    kvCacheIterationStats: { '4096': { iterReusedBlocks: reused } },
  });
  totals.add([row(1, 4, 3), row(2, 9, 4)]);
  totals.add([]);
  expect(values(totals)).toMatchObject({
    trtllm_iter_new_active_requests_total: 3,
    trtllm_iter_kv_used_blocks: 20,
    trtllm_iter_latency_seconds_count: 2,
    'trtllm_iter_latency_seconds_bucket{"le":"0.005"}': 1,
    'trtllm_iter_latency_seconds_bucket{"le":"0.01"}': 2,
    'trtllm_iter_kv_window_reused_blocks_total{"window_size":"4096"}': 7,
  });
  expect(values(totals)['trtllm_iter_latency_seconds_sum']).toBeCloseTo(0.013, 12);
});

test('the constructed response gives the sums of its rows', () => {
  const totals = new IterationTotals();
  totals.add(iterationRows(captureText('trtllm/iteration-stats.json.gz')) ?? []);
  const all = values(totals);
  expect(all).toMatchObject({
    trtllm_iter_rows_read_total: 34,
    trtllm_iter_rows_missed_total: 0,
    trtllm_iter_new_active_requests_total: 5,
    trtllm_iter_completed_requests_total: 5,
    trtllm_iter_spec_draft_tokens_total: 801,
    trtllm_iter_spec_accepted_tokens_total: 388,
    trtllm_iter_active_requests: 8,
    trtllm_iter_queued_requests: 13,
    trtllm_iter_kv_used_blocks: 103,
    trtllm_iter_kv_reused_blocks_total: 945,
    trtllm_iter_kv_missed_blocks_total: 438,
    trtllm_iter_latency_seconds_count: 34,
  });
  expect(all['trtllm_iter_queue_latency_seconds_total']).toBeCloseTo(3.276902, 9);
  expect(all['trtllm_iter_latency_seconds_sum']).toBeCloseTo(1.003421, 9);
});
