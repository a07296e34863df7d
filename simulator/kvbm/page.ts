import type { PageEntries } from '../metrics/page-families.ts';

/** What KVBM's leader exposes: transfers between tiers and hits, and the collector of the logical pools. */
export const KVBM_PAGE: PageEntries = [
  ['kvbm_offload_blocks_d2h', 'The number of offload blocks from device to host'],
  ['kvbm_offload_blocks_h2d', 'The number of offload blocks from host to disk'],
  ['kvbm_offload_blocks_d2d', 'The number of offload blocks from device to disk (bypassing host memory)'],
  ['kvbm_offload_blocks_d2o', 'The number of offload blocks from device to object storage'],
  ['kvbm_onboard_blocks_h2d', 'The number of onboard blocks from host to device'],
  ['kvbm_onboard_blocks_d2d', 'The number of onboard blocks from disk to device'],
  ['kvbm_onboard_blocks_o2d', 'The number of onboard blocks from object storage to device'],
  ['kvbm_object_read_failures', 'The number of failed object storage read operations (blocks)'],
  ['kvbm_object_write_failures', 'The number of failed object storage write operations (blocks)'],
  ['kvbm_matched_tokens', 'The number of matched tokens'],
  ['kvbm_host_cache_hit_rate', 'Host cache hit rate (0.0-1.0) from the sliding window'],
  ['kvbm_disk_cache_hit_rate', 'Disk cache hit rate (0.0-1.0) from the sliding window'],
  ['kvbm_object_cache_hit_rate', 'Object storage cache hit rate (0.0-1.0) from the sliding window'],
  ['kvbm_allocations_total', 'Total blocks allocated from pools'],
  ['kvbm_allocations_from_reset_total', 'Total blocks allocated from the reset pool'],
  ['kvbm_evictions_total', 'Total blocks evicted from inactive pool'],
  ['kvbm_registrations_total', 'Total blocks registered (CompleteBlock -> ImmutableBlock)'],
  ['kvbm_duplicate_blocks_total', 'Total duplicate blocks created (Allow policy)'],
  ['kvbm_registration_dedup_total', 'Total block registrations deduplicated (Reject policy)'],
  ['kvbm_stagings_total', 'Total MutableBlock -> CompleteBlock transitions'],
  ['kvbm_match_hashes_requested_total', 'Total hashes requested in match_blocks calls'],
  ['kvbm_match_blocks_returned_total', 'Total blocks returned from match_blocks calls'],
  ['kvbm_scan_hashes_requested_total', 'Total hashes requested in scan_matches calls'],
  ['kvbm_scan_blocks_returned_total', 'Total blocks returned from scan_matches calls'],
  ['kvbm_inflight_mutable', 'Current MutableBlocks held outside pool'],
  ['kvbm_inflight_immutable', 'Current ImmutableBlocks held outside pool'],
  ['kvbm_reset_pool_size', 'Current reset pool size'],
  ['kvbm_inactive_pool_size', 'Current inactive pool size'],
];

/** Counters of newer builds for races that the simulator, with a single thread, never has. */
export const KVBM_RACES: PageEntries = [
  ['kvbm_eager_primary_to_inactive_total', 'Total primary to inactive transitions done eagerly by a lookup'],
  ['kvbm_allocate_atomic_rollback_total', 'Total allocations rolled back for want of inactive blocks'],
  ['kvbm_release_primary_noop_total', 'Total primary releases that found nothing to do'],
  ['kvbm_release_duplicate_noop_total', 'Total duplicate releases that found their slot changed'],
];
