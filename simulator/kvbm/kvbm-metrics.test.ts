import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { loadCatalog } from '../../catalog/load.ts';
import { drawnMoment, drawnRequests, TIGHT_PARAMETERS } from '../engine/testing/drawn-load.ts';
import type { DrawnRequest } from '../engine/testing/drawn-load.ts';
import { Engine } from '../engine/engine.ts';
import type { EngineEvent } from '../engine/events.ts';
import { pageShape } from '../metrics/testing/page-shape.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import { KvbmMetrics, HitWindow } from './start.ts';

const HOST_BLOCKS = 6;
const PARAMETERS = {
  ...TIGHT_PARAMETERS,
  offloadTiers: [
    { name: 'host', blocks: HOST_BLOCKS, loadMillisecondsPerBlock: 0.5 },
    { name: 'disk', blocks: 10, loadMillisecondsPerBlock: 2 },
  ],
};

/** Runs a load and returns the resulting page with the true counts. */
function run(load: readonly DrawnRequest[], until_ns: number) {
  const engine = new Engine(PARAMETERS);
  const metrics = new KvbmMetrics(PARAMETERS, () => engine.kvBlockTotals);
  load.forEach(({ abortAfter_ns, ...request }, i) => {
    engine.submit({ id: `r${i}`, ...request });
    if (abortAfter_ns !== null) engine.abort(`r${i}`, request.arrival_ns + abortAfter_ns);
  });
  const events: EngineEvent[] = engine.advanceTo(until_ns);
  metrics.observe(events);
  const text = metrics.page(engine.state);
  return { text, page: readPage(text), events, state: engine.state };
}

test('every current family of the catalog is on the page, with its type and labels', () => {
  const { text } = run([], 1e9);
  const shapes = new Map(pageShape(text).map((shape) => [shape.name, shape]));
  const required = loadCatalog('kvbm').families.filter((family) => family.required);
  expect(required).toHaveLength(32);
  for (const { name, type, labels } of required) {
    expect([name, shapes.get(name)?.type]).toEqual([name, type]);
    expect(shapes.get(name)?.samples).toEqual([`${name} ${[...labels].sort().join(' ')}`]);
  }
  expect(text).toContain('kvbm_reset_pool_size{instance_id="simulated-0",pool="G2",worker_id="0"} 6\n');
});

describe('at any moment of any load', () => {
  test('blocks are in one place each, and none is lost', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (load, until_ns) => {
        const { page, state } = run(load, until_ns);
        for (const [pool, size] of [
          ['G1', PARAMETERS.numKvBlocks],
          ['G2', HOST_BLOCKS],
        ] as const) {
          const value = (name: string): number => page.value(`kvbm_${name}`, { pool });
          const places = ['inflight_mutable', 'inflight_immutable', 'reset_pool_size', 'inactive_pool_size'].map(value);
          expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
          expect(places.reduce((sum, blocks) => sum + blocks, 0)).toBe(size);
          expect(value('allocations_from_reset_total') + value('evictions_total')).toBe(value('allocations_total'));
          expect(value('allocations_from_reset_total')).toBeGreaterThanOrEqual(0);
          expect(value('stagings_total')).toBe(value('registrations_total') + value('registration_dedup_total'));
          expect(value('match_blocks_returned_total')).toBeLessThanOrEqual(value('match_hashes_requested_total'));
        }
        const inUse = ['mutable', 'immutable'].map((kind) => page.value(`kvbm_inflight_${kind}`, { pool: 'G1' }));
        expect((inUse[0] ?? NaN) + (inUse[1] ?? NaN)).toBe(state.usedKvBlocks);
      }),
      { numRuns: 50 },
    );
  });

  test('transfers are those of the engine, matched tokens those that came back', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (load, until_ns) => {
        const { page, events } = run(load, until_ns);
        const traffic = events.flatMap((event) => (event.kind === 'kv-traffic' ? [event] : []));
        const sum = (of: (event: (typeof traffic)[number]) => number | undefined): number =>
          traffic.reduce((total, event) => total + (of(event) ?? 0), 0);
        expect(page.value('kvbm_offload_blocks_d2h')).toBe(sum(({ stored }) => stored[0]));
        expect(page.value('kvbm_offload_blocks_h2d')).toBe(sum(({ stored }) => stored[1]));
        expect(page.value('kvbm_onboard_blocks_h2d')).toBe(sum(({ loaded }) => loaded[0]));
        expect(page.value('kvbm_onboard_blocks_d2d')).toBe(sum(({ loaded }) => loaded[1]));
        const first = events.flatMap((e) => (e.kind === 'scheduled' && !e.resumed ? [e.request] : []));
        const matched = first.reduce((total, { offloadedTokens: [host = 0, disk = 0] }) => total + host + disk, 0);
        expect(page.value('kvbm_matched_tokens')).toBe(matched);
        for (const tier of ['host', 'disk']) {
          expect(page.value(`kvbm_${tier}_cache_hit_rate`)).toBeGreaterThanOrEqual(0);
          expect(page.value(`kvbm_${tier}_cache_hit_rate`)).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 50 },
    );
  });
});

test('hit rates cover the last thousand requests', () => {
  const window = new HitWindow();
  expect(window.rate(0)).toBe(0);
  for (let i = 0; i < 1500; i++) window.add({ queried: 4, found: [4, 0] });
  for (let i = 0; i < 750; i++) window.add({ queried: 4, found: [0, 1] });
  // 250 of the thousand with four hits of four, the others with none.
  expect([window.rate(0), window.rate(1), window.rate(2)]).toEqual([0.25, 0.1875, 0]);
});
