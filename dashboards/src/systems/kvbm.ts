import { runCovered, targetsUp } from '../server/health.ts';
import { cell, closedRow, lines, row, servers, type RowSpec } from '../server/panel-spec.ts';
import type { ServerDashboard } from '../server/server-dashboard.ts';
import { ServerQueries } from '../server/server-queries.ts';

const PRESENCE = 'kvbm_matched_tokens';
const q = new ServerQueries({ systems: ['kvbm'] });
const whole = q.overRange();

function overview(): RowSpec {
  return row(1, 'Health and activity', [
    servers('One row per server: is it healthy, does it save work.', [
      targetsUp(q, PRESENCE),
      runCovered(q, PRESENCE),
      cell('Found', 'prompt tokens found in the tiers: prefill that was saved.', [whole.rate('kvbm_matched_tokens')]),
      cell(
        'Failed reads',
        'blocks that object storage failed to read. Any: look at the store.',
        [whole.rate('kvbm_object_read_failures')],
        { above: 0 },
      ),
      cell(
        'Failed writes',
        'blocks that object storage failed to write. Any: look at the store.',
        [whole.rate('kvbm_object_write_failures')],
        { above: 0 },
      ),
    ]),
    lines(
      'Tokens found',
      'Prompt tokens found in the tiers per second; ÷ the prompt tokens of the engine it is the hit ratio weighted by traffic.',
      [q.rate('kvbm_matched_tokens', { as: 'found' })],
    ),
    lines(
      'Hit rate by tier',
      'Of recent requests, as KVBM calculates it in a sliding window of its own. Not weighted by traffic: do not average it.',
      [
        q.gauge('kvbm_host_cache_hit_rate', { as: 'host' }),
        q.gauge('kvbm_disk_cache_hit_rate', { as: 'disk' }),
        q.gauge('kvbm_object_cache_hit_rate', { as: 'object storage' }),
      ],
      { max: 1 },
    ),
    lines('Failures', 'Blocks that object storage failed to read or write.', [
      q.rate('kvbm_object_read_failures', { as: 'reads' }),
      q.rate('kvbm_object_write_failures', { as: 'writes' }),
    ]),
  ]);
}

function tiers(): RowSpec {
  return closedRow(2, 'Offload and onboard', [
    lines(
      'Offload: down the tiers',
      'Blocks moved out per second. If they are far above the blocks onboarded, tiers are filled but not used.',
      [
        q.rate('kvbm_offload_blocks_d2h', { as: 'GPU to host' }),
        q.rate('kvbm_offload_blocks_h2d', { as: 'host to disk' }),
        q.rate('kvbm_offload_blocks_d2d', { as: 'GPU to disk' }),
        q.rate('kvbm_offload_blocks_d2o', { as: 'GPU to object storage' }),
      ],
    ),
    lines(
      'Onboard: back to the GPU',
      'Blocks brought back per second. Each saves computing it again if the tier is faster than prefill.',
      [
        q.rate('kvbm_onboard_blocks_h2d', { as: 'from host' }),
        q.rate('kvbm_onboard_blocks_d2d', { as: 'from disk' }),
        q.rate('kvbm_onboard_blocks_o2d', { as: 'from object storage' }),
      ],
    ),
    lines('Object storage traffic', 'Blocks written and read per second.', [
      q.rate('kvbm_offload_blocks_d2o', { as: 'written' }),
      q.rate('kvbm_onboard_blocks_o2d', { as: 'read' }),
    ]),
  ]);
}

function pools(): RowSpec {
  const pool = { by: ['pool'] };
  return closedRow(3, 'Logical pools', [
    lines(
      'Blocks in the pools',
      'Unused (reset), kept for reuse (inactive), held by requests (in flight). Reset near 0: allocations evict.',
      [
        q.gauge('kvbm_reset_pool_size', { ...pool, as: 'reset' }),
        q.gauge('kvbm_inactive_pool_size', { ...pool, as: 'inactive' }),
        q.gauge('kvbm_inflight_mutable', { ...pool, as: 'in flight, mutable' }),
        q.gauge('kvbm_inflight_immutable', { ...pool, as: 'in flight, immutable' }),
      ],
    ),
    lines(
      'Allocations and evictions',
      'If evictions are close to allocations, the pool is full and fewer blocks are reused.',
      [
        q.rate('kvbm_allocations_total', { ...pool, as: 'allocated' }),
        q.rate('kvbm_allocations_from_reset_total', { ...pool, as: 'from unused' }),
        q.rate('kvbm_evictions_total', { ...pool, as: 'evicted' }),
      ],
    ),
    lines(
      'Registrations',
      'Complete blocks that became reusable; duplicates and folded ones show equal prompts at the same time.',
      [
        q.rate('kvbm_registrations_total', { ...pool, as: 'registered' }),
        q.rate('kvbm_stagings_total', { ...pool, as: 'complete' }),
        q.rate('kvbm_duplicate_blocks_total', { ...pool, as: 'duplicates' }),
        q.rate('kvbm_registration_dedup_total', { ...pool, as: 'folded' }),
      ],
    ),
    lines(
      'Matches',
      'Blocks returned ÷ hashes requested.',
      [
        q.ratio('kvbm_match_blocks_returned_total', 'kvbm_match_hashes_requested_total', { ...pool, as: 'match' }),
        q.ratio('kvbm_scan_blocks_returned_total', 'kvbm_scan_hashes_requested_total', { ...pool, as: 'scan' }),
      ],
      { max: 1 },
    ),
    lines(
      'Races',
      'Allocations rolled back because the pool was empty, and steps that another thread had already done. If allocations are rolled back, the pool is too small.',
      [
        q.rate('kvbm_allocate_atomic_rollback_total', { ...pool, as: 'rolled back', unit: 'events' }),
        q.rate('kvbm_eager_primary_to_inactive_total', { ...pool, as: 'eagerly inactive', unit: 'events' }),
        q.rate('kvbm_release_primary_noop_total', { ...pool, as: 'release: nothing to do', unit: 'events' }),
        q.rate('kvbm_release_duplicate_noop_total', { ...pool, as: 'release of a duplicate: skipped', unit: 'events' }),
      ],
    ),
  ]);
}

/** KVBM: the KV block manager of Dynamo and its tiers. */
export function kvbm(): ServerDashboard {
  return {
    uid: 'llmbench-kvbm',
    system: 'kvbm',
    title: 'KV cache: KVBM',
    description:
      'Tiers of the KV block manager of Dynamo, which is deprecated since Dynamo 1.5: a deployment without it is normal',
    presence: PRESENCE,
    model: null,
    rows: [overview(), tiers(), pools()],
  };
}
