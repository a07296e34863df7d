import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { TIGHT_PARAMETERS, drawnMoment, drawnRequests, runLoad } from '../engine/testing/drawn-load.ts';
import type { DrawnRequest } from '../engine/testing/drawn-load.ts';
import { Engine } from '../engine/engine.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import { VllmProfile } from './profile.ts';

const MS = 1e6;

// Each run writes and parses a whole page.
const RUNS = { numRuns: 30 };

const DRAFT_TOKENS = 3;
const POSITIONS = ['0', '1', '2'];
const PARAMETERS: EngineParameters = {
  ...TIGHT_PARAMETERS,
  offloadTiers: [{ name: 'host', blocks: 8, loadMillisecondsPerBlock: 0.5 }],
  speculation: { draftTokens: DRAFT_TOKENS, acceptanceRatio: 0.5 },
};
/** 4 tokens of 128 KiB. */
const BLOCK_BYTES = 524_288;

/** Runs a load and returns the resulting page with the true counts. */
function run(requests: readonly DrawnRequest[], until_ns: number) {
  const profile = new VllmProfile({ modelName: 'm', parameters: PARAMETERS });
  const happened = runLoad(requests, until_ns, { profile, parameters: PARAMETERS });
  const traffic = happened.events.flatMap((event) => (event.kind === 'kv-traffic' ? [event] : []));
  return { page: readPage(profile.metricsPage(happened.state)), traffic, ...happened };
}

const atAnyMoment = (check: (ran: ReturnType<typeof run>) => void): void =>
  fc.assert(
    fc.property(drawnRequests, drawnMoment, (requests, until_ns) => check(run(requests, until_ns))),
    RUNS,
  );

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

describe('at any moment of any load', () => {
  test('draft tokens: accepted ≤ drafted, later positions no more often, and tokens are outputs and accepted ones', () => {
    atAnyMoment(({ page, events }) => {
      const value = (name: string): number => page.value(`vllm:spec_decode_num_${name}_total`);
      const byPosition = POSITIONS.map((position) =>
        page.value('vllm:spec_decode_num_accepted_tokens_per_pos_total', { position }),
      );
      expect(value('draft_tokens')).toBe(value('drafts') * DRAFT_TOKENS);
      expect(value('accepted_tokens')).toBeLessThanOrEqual(value('draft_tokens'));
      expect(sum(byPosition)).toBe(value('accepted_tokens'));
      expect(byPosition).toEqual(byPosition.toSorted((a, b) => b - a));
      expect(byPosition[0]).toBeLessThanOrEqual(value('drafts'));
      // Each output is a token that the model gave itself; the accepted ones came with it.
      const outputs =
        (page.histogram('vllm:time_to_first_token_seconds').count ?? NaN) +
        (page.histogram('vllm:inter_token_latency_seconds').count ?? NaN);
      expect(page.value('vllm:generation_tokens_total')).toBe(outputs + value('accepted_tokens'));
      expect(page.value('vllm:generation_tokens_total')).toBe(events.filter(({ kind }) => kind === 'token').length);
    });
  });

  test('offloaded bytes are blocks × their size, in the families of now and in the older ones', () => {
    atAnyMoment(({ page, traffic }) => {
      for (const [name, transfer_type, moved] of [
        ['load', 'CPU_to_GPU', traffic.map(({ loaded }) => sum(loaded))],
        ['store', 'GPU_to_CPU', traffic.map(({ stored }) => sum(stored))],
      ] as const) {
        const bytes = page.value(`vllm:kv_offload_${name}_bytes_total`);
        const transfers = moved.filter((blocks) => blocks > 0).length;
        expect(bytes).toBe(sum(moved) * BLOCK_BYTES);
        expect(page.value('vllm:kv_offload_total_bytes_total', { transfer_type })).toBe(bytes);
        expect(page.histogram(`vllm:kv_offload_${name}_size`)).toMatchObject({ count: transfers, sum: bytes });
        expect(page.histogram('vllm:kv_offload_size', { transfer_type })).toMatchObject({
          count: transfers,
          sum: bytes,
        });
        const seconds = page.value(`vllm:kv_offload_${name}_time_total`);
        expect(page.value('vllm:kv_offload_total_time_total', { transfer_type })).toBe(seconds);
        expect(seconds > 0).toBe(bytes > 0);
      }
    });
  });

  test('lookups: hits ≤ queries, one per request that was scheduled, deferred where something was found', () => {
    atAnyMoment(({ page, events }) => {
      const scheduled = events.flatMap((e) => (e.kind === 'scheduled' && !e.resumed ? [e.request] : []));
      const found = scheduled.filter(({ offloadedTokens }) => sum(offloadedTokens) > 0);
      expect(page.histogram('vllm:kv_offload_lookup_sync_delay_seconds').count).toBe(scheduled.length);
      const deferred = page.histogram('vllm:kv_offload_lookup_async_delay_seconds');
      expect(deferred.count).toBe(found.length);
      // 0.5 ms for each block of 4 tokens.
      expect(deferred.sum).toBeCloseTo((sum(found.map((request) => sum(request.offloadedTokens))) / 4) * 0.0005, 9);
      expect(page.value('vllm:external_prefix_cache_hits_total')).toBeLessThanOrEqual(
        page.value('vllm:external_prefix_cache_queries_total'),
      );
      const usage = page.value('vllm:kv_offload_cpu_cache_usage_perc');
      expect(usage).toBeGreaterThanOrEqual(0);
      expect(usage).toBeLessThanOrEqual(1);
    });
  });

  test('one lifetime per evicted block, idle for no longer than it lived', () => {
    atAnyMoment(({ page, traffic }) => {
      const evicted = sum(traffic.map(({ evicted }) => evicted));
      const lifetime = page.histogram('vllm:kv_block_lifetime_seconds');
      const idle = page.histogram('vllm:kv_block_idle_before_evict_seconds');
      const gaps = page.histogram('vllm:kv_block_reuse_gap_seconds');
      expect([lifetime.count, idle.count]).toEqual([evicted, evicted]);
      expect((idle.sum ?? NaN) + (gaps.sum ?? NaN)).toBeLessThanOrEqual((lifetime.sum ?? NaN) + 1e-9);
      for (const { lifetime_ns, idle_ns, reuseGaps_ns } of traffic.flatMap(({ lives }) => lives)) {
        expect(idle_ns + sum(reuseGaps_ns)).toBeLessThanOrEqual(lifetime_ns);
        expect(Math.min(idle_ns, ...reuseGaps_ns)).toBeGreaterThanOrEqual(0);
      }
    });
  });

  test('one transfer per prompt that was prefilled, of whole blocks; none failed, no request is corrupted', () => {
    atAnyMoment(({ page, events }) => {
      const prompts = events.flatMap((e) => (e.kind === 'token' && e.index === 0 ? [e.request.promptTokens] : []));
      const blocks = sum(prompts.map((tokens) => Math.ceil(tokens / 4)));
      expect(page.histogram('vllm:nixl_bytes_transferred')).toMatchObject({
        count: prompts.length,
        sum: blocks * BLOCK_BYTES,
      });
      // Keys and values of 32 layers.
      expect(page.histogram('vllm:nixl_num_descriptors')).toMatchObject({ count: prompts.length, sum: blocks * 64 });
      const post = page.histogram('vllm:nixl_post_time_seconds');
      const whole = page.histogram('vllm:nixl_xfer_time_seconds');
      expect([post.count, whole.count]).toEqual([prompts.length, prompts.length]);
      expect(post.sum).toBeLessThanOrEqual(whole.sum ?? NaN);
      expect(page.value('vllm:nixl_num_failed_transfers_total')).toBe(0);
      expect(page.value('vllm:nixl_num_failed_notifications_total')).toBe(0);
      expect(page.value('vllm:corrupted_requests_total')).toBe(0);
    });
  });
});

test('a prefix that is evicted and loaded again, by hand', () => {
  const parameters: EngineParameters = {
    ...PARAMETERS,
    maxNumBatchedTokens: 64,
    numKvBlocks: 16,
    offloadTiers: [{ name: 'host', blocks: 20, loadMillisecondsPerBlock: 3 }],
    speculation: null,
    jitterRatio: 0,
  };
  const engine = new Engine(parameters);
  const profile = new VllmProfile({ modelName: 'm', parameters, wallSeconds: () => 1795279939 });
  const hashes = (family: number): number[] => Array.from({ length: 10 }, (_, i) => family * 100 + i);
  const request = { promptTokens: 41, outputTokens: 1 };
  engine.submit({ id: 'a', arrival_ns: 0, promptBlockHashes: hashes(1), ...request });
  engine.submit({ id: 'b', arrival_ns: 1000 * MS, promptBlockHashes: hashes(2), ...request });
  engine.submit({ id: 'c', arrival_ns: 2000 * MS, promptBlockHashes: hashes(1), ...request });
  profile.observe(engine.advanceTo(1999 * MS));
  const before = readPage(profile.metricsPage(engine.state));
  // 11 of 16 blocks each: b takes 6 without content and the last 5 of a's, which live from 0 to 1 s and are never used
  // again.
  expect(before.value('vllm:kv_offload_store_bytes_total')).toBe(5 * BLOCK_BYTES);
  expect(before.value('vllm:kv_offload_load_bytes_total')).toBe(0);
  expect(before.histogram('vllm:kv_block_lifetime_seconds')).toMatchObject({ count: 5, sum: 5 });
  expect(before.histogram('vllm:kv_block_idle_before_evict_seconds')).toMatchObject({ count: 5, sum: 5 });
  // c finds 5 blocks on the device, loads 5, and pushes 5 of b's out, which began at 1 s.
  profile.observe(engine.advanceTo(2001 * MS));
  const during = readPage(profile.metricsPage(engine.state));
  expect(during.value('vllm:kv_offload_cpu_cache_usage_perc')).toBe(10 / 20);
  profile.observe(engine.advanceTo(5000 * MS));
  const after = readPage(profile.metricsPage(engine.state));
  expect(after.value('vllm:kv_offload_cpu_cache_usage_perc')).toBe(0);
  expect(after.value('vllm:kv_offload_load_bytes_total')).toBe(5 * BLOCK_BYTES);
  expect(after.value('vllm:kv_offload_load_time_total')).toBeCloseTo(0.015, 12);
  expect(after.value('vllm:kv_offload_store_bytes_total')).toBe(10 * BLOCK_BYTES);
  expect(after.histogram('vllm:kv_block_lifetime_seconds')).toMatchObject({ count: 10, sum: 10 });
  expect(after.value('vllm:lora_requests_info', { max_lora: '4' })).toBe(1795279939);
});
