import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { TIGHT_PARAMETERS, drawnMoment, drawnRequests, runLoad } from '../engine/testing/drawn-load.ts';
import type { DrawnRequest } from '../engine/testing/drawn-load.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import { TrtllmProfile } from './profile.ts';

// Each run writes and parses a whole page.
const RUNS = { numRuns: 20 };

const parameters: EngineParameters = {
  ...TIGHT_PARAMETERS,
  offloadTiers: [
    { name: 'host', blocks: 8, loadMillisecondsPerBlock: 0.5 },
    { name: 'disk', blocks: 30, loadMillisecondsPerBlock: 2 },
  ],
  speculation: { draftTokens: 3, acceptanceRatio: 0.6 },
};

interface Row {
  readonly iter: number;
  readonly numNewActiveRequests: number;
  readonly numActiveRequests: number;
  readonly numCompletedRequests: number;
  readonly kvCacheStats: Readonly<Record<string, number>>;
  readonly inflightBatchingStats: Readonly<Record<string, number>>;
  readonly specDecodingStats: Readonly<Record<string, number>>;
  readonly kvCacheIterationStats: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly iterCachedTokensByLevel: readonly number[];
}

function run(requests: readonly DrawnRequest[], until_ns: number) {
  const profile = new TrtllmProfile('m', parameters);
  const happened = runLoad(requests, until_ns, { profile, parameters });
  const page = readPage(profile.metricsPage(happened.state));
  const value = (name: string, labels = {}): number => page.sum(`trtllm_${name}`, labels);
  return { value, rows: JSON.parse(profile.drainIterations()) as Row[], ...happened };
}

const total = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0);

describe('at any moment of any load', () => {
  test('requests: everything is counted when one ends, cancelled ones too; times above zero only', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (requests, until_ns) => {
        const { value, events } = run(requests, until_ns);
        const finished = events.flatMap((event) => (event.kind === 'finished' ? [event.request] : []));
        const cancelled = events.flatMap((event) => (event.kind === 'aborted' ? [event.request] : []));
        const ended = [...finished, ...cancelled];
        const started = ended.filter(({ firstToken_ns }) => firstToken_ns !== null);
        expect(value('request_success_total', { finished_reason: 'cancelled' })).toBe(cancelled.length);
        expect(value('request_success_total')).toBe(ended.length);
        expect(value('prompt_tokens_total')).toBe(total(ended, ({ promptTokens }) => promptTokens));
        expect(value('generation_tokens_total')).toBe(total(ended, ({ generatedTokens }) => generatedTokens));
        expect(value('prompt_cached_tokens_total')).toBe(total(ended, ({ cachedTokens }) => cachedTokens));
        expect(value('request_queue_time_seconds_count')).toBe(
          ended.filter(({ scheduled_ns }) => scheduled_ns !== null).length,
        );
        for (const name of ['e2e_request_latency', 'time_to_first_token', 'request_inference_time']) {
          expect(value(`${name}_seconds_count`)).toBe(started.length);
        }
        const decoded = started.filter(({ firstToken_ns, lastToken_ns }) => lastToken_ns !== firstToken_ns);
        expect(value('request_decode_time_seconds_count')).toBe(decoded.length);
        expect(value('request_prefill_time_seconds_sum') + value('request_decode_time_seconds_sum')).toBeCloseTo(
          value('request_inference_time_seconds_sum'),
          6,
        );
      }),
      RUNS,
    );
  });

  test('the rows and the page agree on the iterations', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (requests, until_ns) => {
        const { value, rows, events } = run(requests, until_ns);
        const steps = events.filter(({ kind }) => kind === 'step').length;
        const last = rows.at(-1);
        expect(rows.map(({ iter }) => iter)).toEqual(Array.from({ length: steps }, (_, i) => i + 1));
        if (last === undefined) return;
        expect(value('num_requests_completed_total')).toBe(total(rows, (row) => row.numCompletedRequests));
        expect(value('kv_cache_reused_blocks_total')).toBe(last.kvCacheStats['reusedBlocks']);
        expect(value('kv_cache_missed_blocks_total')).toBe(last.kvCacheStats['missedBlocks']);
        expect(value('num_requests_running')).toBe(last.numActiveRequests);
        expect(value('num_scheduled_requests')).toBe(value('num_context_requests') + value('num_generation_requests'));
        expect(value('kv_cache_used_blocks') + value('kv_cache_free_blocks')).toBe(value('kv_cache_max_blocks'));
        expect(value('spec_decode_num_draft_tokens_total')).toBe(
          total(rows, (row) => row.specDecodingStats['numDraftTokens'] ?? NaN),
        );
        expect(value('spec_decode_num_accepted_tokens_total')).toBe(
          total(rows, (row) => row.specDecodingStats['numAcceptedTokens'] ?? NaN),
        );
        expect(value('kv_cache_iter_reused_blocks_total')).toBe(
          total(rows, (row) => total(Object.values(row.kvCacheIterationStats), (w) => w['iterReusedBlocks'] ?? NaN)),
        );
        expect(value('prompt_cache_hit_tokens_total')).toBe(
          total(rows, (row) => total(row.iterCachedTokensByLevel, (tokens) => tokens)),
        );
      }),
      RUNS,
    );
  });

  test('drafts by position are the drafts by iteration, and make up the tokens beyond one per request and step', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (requests, until_ns) => {
        const { value, rows, events } = run(requests, until_ns);
        const accepted = value('spec_decode_accepted_tokens_total');
        expect(value('spec_decode_drafted_tokens_total')).toBe(value('spec_decode_num_draft_tokens_total'));
        expect(accepted).toBe(value('spec_decode_num_accepted_tokens_total'));
        expect(accepted).toBeLessThanOrEqual(value('spec_decode_drafted_tokens_total'));
        const tokens = events.flatMap((event) => (event.kind === 'token' ? [event] : []));
        const atOneTime = new Set(tokens.map(({ request, time_ns }) => `${request.id} ${time_ns}`));
        expect(tokens.length - atOneTime.size).toBe(accepted);
        expect(total(rows, (row) => row.inflightBatchingStats['numCtxTokens'] ?? NaN)).toBe(
          total(events, (event) => (event.kind === 'step' ? event.prefillTokens : 0)),
        );
      }),
      RUNS,
    );
  });
});
