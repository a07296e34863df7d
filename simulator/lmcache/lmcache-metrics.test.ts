import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { captureText } from '../../fixtures/captures.ts';
import { TIGHT_PARAMETERS, drawnMoment, drawnRequests, runLoad } from '../engine/testing/drawn-load.ts';
import type { DrawnRequest } from '../engine/testing/drawn-load.ts';
import { pageShape } from '../metrics/testing/page-shape.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import { LmcacheMetrics } from './lmcache-metrics.ts';

// The page of the collector of the lmcache 0.5.6 wheel, driven with made-up lookups, retrievals and stores.
const realPage = captureText('lmcache/loaded.txt');

const PARAMETERS = {
  ...TIGHT_PARAMETERS,
  offloadTiers: [{ name: 'host', blocks: 30, loadMillisecondsPerBlock: 0.5 }],
};

/** Runs a load and returns the resulting page with the true counts. */
function run(load: readonly DrawnRequest[], until_ns: number) {
  const metrics = new LmcacheMetrics('m', PARAMETERS);
  const { events, state } = runLoad(load, until_ns, { profile: metrics, parameters: PARAMETERS });
  metrics.update(state);
  return { page: readPage(metrics.page()), events, state };
}

test('the families are those of the real page, in its order', () => {
  const real = pageShape(realPage);
  // Gauges that need an engine to have a series: the real collector ran without one.
  const needEngine = ['lmcache:local_cpu_hot_cache_count', 'lmcache:lmcache_is_healthy'];
  const ours = pageShape(new LmcacheMetrics('m', PARAMETERS).page());
  const comparable = ours.map((shape) => (needEngine.includes(shape.name) ? { ...shape, samples: [] } : shape));
  expect(comparable).toEqual(real);
});

test('the lines of a histogram come in the order of the real page', () => {
  const order = (page: string): string[] =>
    page.split('\n').flatMap((line) => /^lmcache:time_to_retrieve\w*(\{le="[^"]*")?/.exec(line)?.[0] ?? []);
  expect(order(new LmcacheMetrics('m', PARAMETERS).page())).toEqual(order(realPage));
});

describe('at any moment of any load', () => {
  test('lookups are the prompts that were scheduled, retrievals what came back from the host', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (load, until_ns) => {
        const { page, events, state } = run(load, until_ns);
        const value = (name: string): number => page.value(`lmcache:${name}`);
        const scheduled = events.flatMap((e) => (e.kind === 'scheduled' && !e.resumed ? [e.request] : []));
        const sum = (of: (request: (typeof scheduled)[number]) => number): number =>
          scheduled.reduce((total, request) => total + of(request), 0);
        const loaded = sum(({ offloadedTokens }) => offloadedTokens[0] ?? 0);
        expect(value('num_lookup_requests_total')).toBe(scheduled.length);
        expect(value('num_lookup_tokens_total')).toBe(sum(({ promptTokens }) => promptTokens));
        expect(value('num_lookup_hits_total')).toBe(sum(({ cachedTokens }) => cachedTokens));
        expect(value('num_hit_tokens_total')).toBe(loaded);
        expect(value('num_vllm_hit_tokens_total') + loaded).toBe(value('num_lookup_hits_total'));
        const rates = page.histogram('lmcache:request_cache_hit_rate').count ?? NaN;
        expect(rates + value('lookup_0_hit_requests_total')).toBe(scheduled.length);
        expect(page.histogram('lmcache:time_to_lookup').count).toBe(scheduled.length);
        expect(page.histogram('lmcache:time_to_retrieve').count).toBe(value('num_retrieve_requests_total'));
        // Blocks of 4 tokens, 128 KiB each token.
        expect(value('local_cache_usage')).toBe((state.offloadedBlocks[0] ?? NaN) * 4 * 131_072);
        for (const gauge of ['lookup_hit_rate', 'retrieve_hit_rate']) {
          expect(value(gauge)).toBeGreaterThanOrEqual(0);
          expect(value(gauge)).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 25 },
    );
  });
});

test('hit rates are those of the last ten seconds; without traffic one reads 0 and the other 1', () => {
  const metrics = new LmcacheMetrics('m', PARAMETERS);
  const rate = (name: string): number => readPage(metrics.page()).value(`lmcache:${name}_hit_rate`);
  const prompt = {
    arrival_ns: 0,
    promptTokens: 9,
    promptBlockHashes: [1, 2],
    outputTokens: 1,
    abortAfter_ns: null,
  };
  // The second finds 8 of its 9 tokens, so that 8 of 18 are found in all.
  const twice = [prompt, { ...prompt, arrival_ns: 1e9 }];
  const { state } = runLoad(twice, 2e9, { profile: metrics, parameters: PARAMETERS });
  expect([rate('lookup'), rate('retrieve')]).toEqual([0, 1]);
  metrics.update({ ...state, now_ns: 11e9 });
  expect(rate('lookup')).toBeCloseTo(8 / 18, 12);
  metrics.update({ ...state, now_ns: 22e9 });
  expect([rate('lookup'), rate('retrieve')]).toEqual([0, 1]);
});
