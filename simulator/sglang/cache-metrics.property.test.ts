import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { TIGHT_PARAMETERS, drawnMoment, drawnRequests, runLoad } from '../engine/testing/drawn-load.ts';
import type { KvTrafficEvent } from '../engine/events.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import { SglangProfile } from './profile.ts';

// Each run writes and parses a whole page.
const RUNS = { numRuns: 30 };

/** So small a host tier that blocks go on to storage and come back from there. */
const PARAMETERS = {
  ...TIGHT_PARAMETERS,
  offloadTiers: [
    { name: 'host', blocks: 6, loadMillisecondsPerBlock: 0.25 },
    { name: 'storage', blocks: 60, loadMillisecondsPerBlock: 1 },
  ],
};

test('evictions, loads, backups and prefetches are those of the events; a family is there with its first', () => {
  let prefetches = 0;
  fc.assert(
    fc.property(drawnRequests, drawnMoment, (requests, until_ns) => {
      const profile = new SglangProfile({ modelName: 'm', parameters: PARAMETERS });
      const { events, state } = runLoad(requests, until_ns, { profile, parameters: PARAMETERS });
      const text = profile.metricsPage(state);
      const page = readPage(text);
      const traffic = events.flatMap((event) => (event.kind === 'kv-traffic' ? [event] : []));
      for (const { counter, histograms, blocksOf } of MOVES) {
        const moves = traffic.map(blocksOf).filter((blocks) => blocks > 0);
        const blocks = moves.reduce((sum, moved) => sum + moved, 0);
        expect([counter, page.sum(`sglang:${counter}`)]).toEqual([counter, blocks * PARAMETERS.blockSize]);
        expect([counter, text.includes(`# TYPE sglang:${counter} counter\n`)]).toEqual([counter, blocks > 0]);
        for (const name of histograms) {
          expect([name, page.sum(`sglang:${name}_count`)]).toEqual([name, moves.length]);
          if (name.endsWith('_pgs')) expect([name, page.sum(`sglang:${name}_sum`)]).toEqual([name, blocks]);
        }
        if (counter === 'prefetched_tokens_total') prefetches += moves.length;
      }
      const loadSeconds = traffic.reduce((sum, { loaded: [host = 0, storage = 0] }) => sum + host / 4 + storage, 0);
      expect(page.sum('sglang:load_back_duration_seconds_sum')).toBeCloseTo(loadSeconds / 1000, 9);
      expect(page.sum('sglang:storage_prefetch_hit_tokens_total')).toBe(page.sum('sglang:prefetched_tokens_total'));
    }),
    { ...RUNS, seed: 11 },
  );
  // The drawn loads reach the last tier.
  expect(prefetches).toBeGreaterThan(0);
});

interface Move {
  readonly counter: string;
  readonly histograms: readonly string[];
  readonly blocksOf: (event: KvTrafficEvent) => number;
}

const MOVES: readonly Move[] = [
  {
    counter: 'evicted_tokens_total',
    histograms: ['eviction_duration_seconds'],
    blocksOf: ({ evicted }) => evicted,
  },
  {
    counter: 'load_back_tokens_total',
    histograms: ['load_back_duration_seconds'],
    blocksOf: ({ loaded: [host = 0, storage = 0] }) => host + storage,
  },
  {
    counter: 'backuped_tokens_total',
    histograms: ['backup_pgs', 'backup_bandwidth'],
    blocksOf: ({ stored: [, storage = 0] }) => storage,
  },
  {
    counter: 'prefetched_tokens_total',
    histograms: ['prefetch_pgs', 'prefetch_bandwidth'],
    blocksOf: ({ loaded: [, storage = 0] }) => storage,
  },
];
