import type { EngineParameters } from '../engine/parameters.ts';
import type { Labels } from '../metrics/family.ts';
import { NO_BLOCKS, addBlocks, hitRatio } from './block-totals.ts';
import type { TrtllmFamilies } from './families.ts';
import { blockBytes, gpuMemoryBytes } from './gpu-memory.ts';
import type { Iteration } from './iteration.ts';
import { commonLabels } from './labels.ts';
import type { ProcessIds } from './labels.ts';
import { draftOverhead } from './speculation.ts';

/** Always 0 on the PyTorch backend. */
const ZERO_GAUGES = [
  'cpu_memory_usage_bytes',
  'pinned_memory_usage_bytes',
  'max_batch_size_static',
  'max_batch_size_runtime',
  'max_num_tokens_runtime',
  'avg_decoded_tokens_per_iter',
];

/** What trtllm-serve shows of its iterations. The gauges keep those of the last iteration, also when there is none any more. */
export class TrtllmIterationMetrics {
  readonly #families: TrtllmFamilies;
  readonly #parameters: EngineParameters;
  readonly #labels: Labels;
  readonly #pid: string;
  #blocks = NO_BLOCKS;

  constructor(families: TrtllmFamilies, modelName: string, parameters: EngineParameters, ids: ProcessIds) {
    this.#families = families;
    this.#parameters = parameters;
    this.#labels = commonLabels(modelName);
    this.#pid = ids.server;
  }

  observe(iteration: Iteration): void {
    this.#blocks = addBlocks(this.#blocks, iteration);
    this.#setGauges(iteration);
    this.#setCacheGauges(iteration);
    this.#addCounters(iteration);
    this.#addDrafts(iteration);
    if (iteration.contextTokens > 0) {
      this.#families.histogram('trtllm_prefill_batch_tokens').series(this.#labels).observe(iteration.contextTokens);
    }
  }

  #setGauges({ state, seconds, contextRequests, contextTokens, generationRequests, pausedRequests }: Iteration): void {
    const { maxNumSeqs } = this.#parameters;
    this.#set('num_requests_running', state.running);
    this.#set('num_requests_waiting', state.waiting);
    this.#set('max_num_active_requests', maxNumSeqs);
    this.#set('iteration_latency_seconds', seconds);
    this.#set('gpu_memory_usage_bytes', gpuMemoryBytes(this.#parameters));
    for (const name of ZERO_GAUGES) this.#set(name, 0);
    this.#set('num_context_requests', contextRequests);
    this.#set('num_generation_requests', generationRequests);
    this.#set('num_paused_requests', pausedRequests);
    this.#set('num_scheduled_requests', contextRequests + generationRequests);
    this.#set('total_context_tokens', contextTokens);
    this.#set('prefill_batch_occupancy', contextRequests / maxNumSeqs);
  }

  #setCacheGauges({ state, reusedBlocks, missedBlocks }: Iteration): void {
    const { numKvBlocks, usedKvBlocks, offloadedBlocks } = state;
    const host = this.#parameters.offloadTiers[0]?.blocks ?? 0;
    this.#set('kv_cache_hit_rate', hitRatio(this.#blocks));
    this.#set('kv_cache_utilization', usedKvBlocks / numKvBlocks);
    this.#set('kv_cache_max_blocks', numKvBlocks);
    this.#set('kv_cache_free_blocks', numKvBlocks - usedKvBlocks);
    this.#set('kv_cache_used_blocks', usedKvBlocks);
    this.#set('kv_cache_tokens_per_block', this.#parameters.blockSize);
    this.#set('kv_cache_host_utilization', host === 0 ? 0 : (offloadedBlocks[0] ?? 0) / host);
    this.#set('kv_cache_iter_reuse_rate', hitRatio({ reused: reusedBlocks, missed: missedBlocks }));
  }

  #addCounters(iteration: Iteration): void {
    const bytes = blockBytes(this.#parameters);
    const onboarded = iteration.onboardedBlocks.reduce((sum, blocks) => sum + blocks, 0);
    this.#add('num_requests_completed_total', iteration.completed);
    for (const name of ['reused_blocks', 'iter_reused_blocks', 'iter_full_reused_blocks']) {
      this.#add(`kv_cache_${name}_total`, iteration.reusedBlocks);
    }
    // Only whole blocks are reused, so that nothing is copied either.
    this.#add('kv_cache_iter_partial_reused_blocks_total', 0);
    this.#add('kv_cache_intra_device_copy_bytes_total', 0);
    this.#add('kv_cache_missed_blocks_total', iteration.missedBlocks);
    this.#add('kv_cache_iter_missed_blocks_total', iteration.missedBlocks);
    this.#add('kv_cache_gen_alloc_blocks_total', iteration.generationBlocks);
    this.#add('kv_cache_onboard_bytes_total', onboarded * bytes);
    this.#add('kv_cache_offload_bytes_total', iteration.offloadedBlocks * bytes);
    this.#add('kv_cache_disk_prefetch_blocks_total', iteration.onboardedBlocks[1] ?? 0);
    const tiers = ['gpu', ...this.#parameters.offloadTiers.map(({ name }) => name)];
    for (const [level, tier] of tiers.entries()) {
      const tokens = iteration.cachedTokensByLevel[level] ?? 0;
      this.#add('prompt_cache_hit_tokens_total', tokens, { cache_level: `${level}`, cache_tier: tier });
    }
  }

  #addDrafts({ drafts }: Iteration): void {
    const { speculation } = this.#parameters;
    if (drafts === null || speculation === null) return;
    const accepted = drafts.acceptedByPosition.reduce((sum, count) => sum + count, 0);
    this.#add('spec_decode_num_draft_tokens_total', drafts.sequences * speculation.draftTokens);
    this.#add('spec_decode_num_accepted_tokens_total', accepted);
    if (drafts.sequences === 0) return;
    this.#set('spec_decode_acceptance_length', (accepted + drafts.sequences) / drafts.sequences);
    this.#set('spec_decode_draft_overhead', draftOverhead(speculation));
  }

  #set(name: string, value: number): void {
    this.#families.gauge(`trtllm_${name}`).series({ ...this.#labels, pid: this.#pid }).value = value;
  }

  #add(name: string, amount: number, labels: Labels = {}): void {
    this.#families
      .counter(`trtllm_${name}`)
      .series({ ...this.#labels, ...labels })
      .add(amount);
  }
}
