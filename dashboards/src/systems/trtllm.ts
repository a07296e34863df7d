import { runCovered, targetsUp } from '../server/health.ts';
import {
  closedRow,
  detailsRow,
  facts,
  lines,
  cell,
  kept,
  heat,
  row,
  servers,
  stacked,
  type RowSpec,
} from '../server/panel-spec.ts';
import type { ServerDashboard } from '../server/server-dashboard.ts';
import { ServerQueries } from '../server/server-queries.ts';
import { GPU_EXPORTER, gpuRow } from './gpu-row.ts';

/** Scheduler, KV cache, speculative decoding and the rest of TensorRT-LLM. */
function trtllmFeatureRows(q: ServerQueries): RowSpec[] {
  return [scheduler(q), cache(q), tiers(q), speculation(q), worker(q), configuration(q)];
}

function scheduler(q: ServerQueries): RowSpec {
  return closedRow(4, 'Scheduler, of the last iteration', [
    lines('Batch', 'Requests in prefill, in decode, scheduled, and paused because no KV block is free.', [
      q.gauge('trtllm_num_context_requests', { as: 'prefill' }),
      q.gauge('trtllm_num_generation_requests', { as: 'decode' }),
      q.gauge('trtllm_num_scheduled_requests', { as: 'scheduled' }),
      q.gauge('trtllm_num_paused_requests', { as: 'paused' }),
      q.gauge('trtllm_scheduled_batch_size', { as: 'batch just run' }),
    ]),
    lines('Prompt tokens', 'In the last iteration. Large prompts delay the streams that decode.', [
      q.gauge('trtllm_total_context_tokens', { as: 'last iteration' }),
      q.percentiles('trtllm_prefill_batch_tokens', [0.99]),
    ]),
    lines(
      'Iteration time',
      'Time of the last iteration, in which each stream gets one token. With the overlap scheduler it spans about two iterations.',
      [q.highest('trtllm_iteration_latency_seconds', { as: 'iteration' })],
    ),
  ]);
}

function cache(q: ServerQueries): RowSpec {
  const reused = `sum by (model_name, instance) (rate(${q.selector('trtllm_kv_cache_reused_blocks_total')}[$__rate_interval]))`;
  const missed = `sum by (model_name, instance) (rate(${q.selector('trtllm_kv_cache_missed_blocks_total')}[$__rate_interval]))`;
  return closedRow(5, 'KV cache', [
    lines(
      'Block reuse',
      'Blocks found ÷ blocks found and computed, from counters. If it is low although prompts share a beginning, the cache is too small or requests go to another replica.',
      [
        q.custom(
          `${reused} / (${reused} + ${missed})`,
          ['trtllm_kv_cache_reused_blocks_total', 'trtllm_kv_cache_missed_blocks_total'],
          { unit: 'percentunit' },
          'reused {{instance}}',
        ),
        q.ratio('trtllm_prompt_cached_tokens_total', 'trtllm_prompt_tokens_total', { as: 'of the prompt tokens' }),
      ],
      { max: 1 },
    ),
    lines(
      'Hit rate reported by the server',
      'Since the start of the server, and in the last iteration. Neither covers the time range.',
      [
        q.gauge('trtllm_kv_cache_hit_rate', { as: 'since the start' }),
        q.gauge('trtllm_kv_cache_iter_reuse_rate', { as: 'last iteration' }),
      ],
      { max: 1 },
    ),
    lines('Blocks', 'Used, free and all.', [
      q.gauge('trtllm_kv_cache_used_blocks', { as: 'used' }),
      q.gauge('trtllm_kv_cache_free_blocks', { as: 'free' }),
      q.gauge('trtllm_kv_cache_max_blocks', { as: 'all' }),
    ]),
    lines('Blocks per second', 'Reused whole and in part, missed, and allocated while generating.', [
      q.rate('trtllm_kv_cache_iter_full_reused_blocks_total', { as: 'reused whole' }),
      q.rate('trtllm_kv_cache_iter_partial_reused_blocks_total', { as: 'reused in part' }),
      q.rate('trtllm_kv_cache_iter_missed_blocks_total', { as: 'missed' }),
      q.rate('trtllm_kv_cache_gen_alloc_blocks_total', { as: 'for output' }),
    ]),
    lines('Cached prompt tokens by tier', 'Which tier supplied them.', [
      q.rate('trtllm_prompt_cache_hit_tokens_total', { by: ['cache_tier'], as: '' }),
    ]),
    lines('Cached prompt tokens per request', 'Of finished requests.', [
      q.percentiles('trtllm_prompt_cached_tokens_per_request', [0.5, 0.99]),
    ]),
  ]);
}

function tiers(q: ServerQueries): RowSpec {
  return detailsRow(6, 'KV offload tiers and memory', [
    lines('Bytes moved', 'Back from host memory, out to it, and between blocks on the GPU.', [
      q.rate('trtllm_kv_cache_onboard_bytes_total', { as: 'from host' }),
      q.rate('trtllm_kv_cache_offload_bytes_total', { as: 'to host' }),
      q.rate('trtllm_kv_cache_intra_device_copy_bytes_total', { as: 'within the GPU' }),
    ]),
    lines('GPU memory', 'In use on the whole device, by other processes too.', [
      q.highest('trtllm_gpu_memory_usage_bytes', { as: 'used' }),
    ]),
    lines('Read ahead from disk', 'Blocks from the disk tier to the host tier.', [
      q.rate('trtllm_kv_cache_disk_prefetch_blocks_total', { as: 'blocks' }),
    ]),
  ]);
}

function speculation(q: ServerQueries): RowSpec {
  return detailsRow(7, 'Speculative decoding', [
    lines(
      'Acceptance',
      'Draft tokens accepted ÷ proposed, from counters. If it is low, use fewer draft tokens or another drafter.',
      [
        q.ratio('trtllm_spec_decode_num_accepted_tokens_total', 'trtllm_spec_decode_num_draft_tokens_total', {
          as: 'accepted',
        }),
      ],
      { max: 1 },
    ),
    lines(
      'Acceptance by position',
      'Acceptance falls with the position. Where it is near 0, the draft is too long.',
      [
        q.ratio('trtllm_spec_decode_accepted_tokens_total', 'trtllm_spec_decode_drafted_tokens_total', {
          by: ['token_position'],
          as: 'position',
        }),
      ],
      { max: 1 },
    ),
    lines(
      'Acceptance length',
      'Draft tokens accepted per draft + 1, the token that the model gives itself, of finished requests. The speedup is at most this value.',
      [
        q.custom(
          `1 + sum by (model_name, instance) (rate(${q.selector('trtllm_spec_decode_accepted_tokens_total')}[$__rate_interval])) / ` +
            `sum by (model_name, instance) (rate(${q.selector('trtllm_spec_decode_drafted_tokens_total', 'token_position="0"')}[$__rate_interval]))`,
          ['trtllm_spec_decode_accepted_tokens_total', 'trtllm_spec_decode_drafted_tokens_total'],
          { unit: 'locale', axis: 'tokens' },
          'tokens {{instance}}',
        ),
      ],
    ),
    lines('Tokens per step', 'Of the last iteration. The speedup is at most this value.', [
      q.highest('trtllm_spec_decode_acceptance_length', { as: 'tokens' }),
    ]),
    lines(
      'Time spent on drafting',
      'Share of the last iteration.',
      [q.gauge('trtllm_spec_decode_draft_overhead', { as: 'drafting' })],
      { max: 1 },
    ),
  ]);
}

function worker(q: ServerQueries): RowSpec {
  const mode = { by: ['disaggregation_mode'] };
  return detailsRow(8, 'Under Dynamo: KV transfer and kinds of requests', [
    lines('KV transfer time', 'Per request, as decode workers see it: part of the time to first token.', [
      q.percentiles('trtllm_kv_transfer_latency_seconds', [0.5, 0.99]),
    ]),
    lines('KV transfer speed', 'Per request. If it falls under load, the network is saturated.', [
      q.percentiles('trtllm_kv_transfer_speed_gb_s', [0.5]),
    ]),
    lines('KV transfer volume', 'Bytes per second.', [q.sumRate('trtllm_kv_transfer_bytes', { as: 'bytes' })]),
    lines('KV transfers', 'Transfers finished and failed. After a failed transfer, the request is lost or repeated.', [
      q.rate('trtllm_kv_transfer_success_total', { ...mode, as: 'finished' }),
      q.rate('trtllm_kv_transfer_failure_total', { ...mode, as: 'failed' }),
    ]),
    lines('Kinds of requests', 'With an image, with structured output, and aborted ones.', [
      q.rate('trtllm_request_type_image_total', { ...mode, as: 'image' }),
      q.rate('trtllm_request_type_structured_output_total', { ...mode, as: 'structured output' }),
      q.rate('trtllm_num_aborted_requests_total', { ...mode, as: 'aborted' }),
    ]),
  ]);
}

const MODEL_FACTS = ['model', 'served_model_name', 'dtype', 'quantization', 'max_model_len', 'gpu_type'];
const PARALLEL_FACTS = [
  'tensor_parallel_size',
  'pipeline_parallel_size',
  'context_parallel_size',
  'expert_parallel_size',
  'gpu_count',
];
const SPECULATION_FACTS = ['spec_enabled', 'spec_method', 'spec_num_tokens', 'spec_draft_model'];
const CACHE_FACTS = [
  'page_size',
  'enable_block_reuse',
  'enable_partial_reuse',
  'free_gpu_memory_fraction',
  'cache_dtype',
];

function configuration(q: ServerQueries): RowSpec {
  const about = 'Configuration of the server. Runs are comparable only with equal configurations.';
  return detailsRow(9, 'Configuration', [
    facts('Model', about, q.info('trtllm_model_config_info', MODEL_FACTS), MODEL_FACTS),
    facts('Parallelism', about, q.info('trtllm_parallel_config_info', PARALLEL_FACTS), PARALLEL_FACTS),
    facts(
      'Speculative decoding',
      about,
      q.info('trtllm_speculative_config_info', SPECULATION_FACTS),
      SPECULATION_FACTS,
    ),
    facts('KV cache', about, q.info('trtllm_kv_cache_config_info', CACHE_FACTS), CACHE_FACTS),
    lines('Tokens per block', 'Prefixes are shared in whole blocks of this size.', [
      q.highest('trtllm_kv_cache_tokens_per_block', { as: 'tokens' }),
    ]),
  ]);
}

/** On the page before the first request. */
const PRESENCE = 'trtllm_model_config_info';
/** Of releases before 1.3.0, once a request has finished, and of workers under Dynamo. */
const OTHER_PRESENCE = ['trtllm_request_success_total', 'trtllm_num_aborted_requests_total'];
const QUANTILES = [0.5, 0.9, 0.99];

const q = new ServerQueries({
  systems: ['trtllm'],
  modelLabel: 'model_name',
  oneModel: true,
  // Each process of the server has a series of its own, each rank reports the same batch, and a restart leaves old ones.
  replicas: { labels: ['pid', 'rank'], apart: [] },
});
const whole = q.overRange();

function overview(): RowSpec {
  return row(1, 'Health, saturation, and where the time goes', [
    servers('One row per server: is it healthy, is it saturated.', [
      targetsUp(q, PRESENCE, ...OTHER_PRESENCE),
      runCovered(q, PRESENCE, ...OTHER_PRESENCE),
      cell(
        'Refused',
        'requests that got an HTTP error. Failures in the engine have no counter.',
        [whole.rate('trtllm_request_error_total', { zeroWith: 'trtllm_prompt_tokens_total' })],
        { above: 0 },
      ),
      cell(
        'Max queue',
        'the largest number of requests that waited at any scrape. The gauge keeps its last value while the server is idle.',
        [whole.gauge('trtllm_num_requests_waiting')],
      ),
      cell(
        'Max KV',
        'used blocks ÷ all blocks. Near 100 %, requests are paused.',
        [whole.gauge('trtllm_kv_cache_utilization')],
        { above: 0.95 },
      ),
      cell(
        'Paused',
        'requests paused because no KV block was free. Any value above 0 means that memory is short.',
        [whole.gauge('trtllm_num_paused_requests')],
        { above: 0 },
      ),
      cell(
        'TTFT p99',
        'time to first token, from arrival. A context worker of a disaggregated deployment ends it before the KV transfer.',
        [whole.percentiles('trtllm_time_to_first_token_seconds', [0.99])],
      ),
      ...kept((edge) => whole.within('trtllm_time_to_first_token_seconds', 'ttft_slo', edge)),
      cell('TPOT p99', 'time per output token, one mean per request.', [
        whole.percentiles('trtllm_time_per_output_token_seconds', [0.99]),
      ]),
      cell('Tokens', 'output tokens of requests that finished; requests for several answers add none.', [
        whole.rate('trtllm_generation_tokens_total'),
      ]),
    ]),
    stacked(
      'Where the time goes',
      'Means of the parts of a request that finished. Averaged over all requests of the selected servers, those of a warm-up and a cool-down included. If the queue grows, the server is saturated; if prefill grows, prompts are long or cache hits are few; if decode grows, batches are large or responses are long.',
      [
        q.meanOverall('trtllm_request_queue_time_seconds', { as: 'queue' }),
        q.meanOverall('trtllm_request_prefill_time_seconds', { as: 'prefill' }),
        q.meanOverall('trtllm_request_decode_time_seconds', { as: 'decode' }),
      ],
    ),
    lines(
      'Requests in the server',
      'In the last iteration: active, waiting, and the limit of active requests. The values do not change while the server is idle.',
      [
        q.gauge('trtllm_num_requests_running', { as: 'active' }),
        q.gauge('trtllm_num_requests_waiting', { as: 'waiting' }),
        q.gauge('trtllm_max_num_active_requests', { as: 'limit' }),
      ],
    ),
    lines(
      'KV cache usage',
      'On the GPU, and of the host pool.',
      [
        q.gauge('trtllm_kv_cache_utilization', { as: 'GPU' }),
        q.gauge('trtllm_kv_cache_host_utilization', { as: 'host' }),
      ],
      { max: 1 },
    ),
    lines(
      'Time to first token',
      'From arrival to the first token. Compare with the queue time: the rest is prefill.',
      [q.percentiles('trtllm_time_to_first_token_seconds', QUANTILES)],
      { objective: 'ttft_slo' },
    ),
    lines(
      'Time per output token, per request',
      'One mean per request, so its p99 is not the p99 of the gaps between tokens.',
      [q.percentiles('trtllm_time_per_output_token_seconds', QUANTILES)],
      { objective: 'itl_slo' },
    ),
    lines('Tokens', 'Counted when a request ends, and therefore in bursts if responses are long.', [
      q.rate('trtllm_prompt_tokens_total', { as: 'prompt' }),
      q.rate('trtllm_generation_tokens_total', { as: 'output' }),
    ]),
  ]);
}

function latency(): RowSpec {
  return closedRow(2, 'Latency: queue, prefill, decode', [
    lines(
      'Request latency',
      'From arrival to the last token. The first bound is 0.3 s: below it an estimate is meaningless.',
      [q.meanAndPercentiles('trtllm_e2e_request_latency_seconds', QUANTILES)],
    ),
    lines(
      'Time in the queue',
      'Time until the scheduler took the request. Above 0.3 s, the server is saturated; shorter times are all in the first bucket.',
      [q.meanAndPercentiles('trtllm_request_queue_time_seconds', QUANTILES)],
    ),
    lines('Prefill time', 'From being scheduled to the first token.', [
      q.meanAndPercentiles('trtllm_request_prefill_time_seconds', QUANTILES),
    ]),
    lines('Decode time', 'From the first to the last token.', [
      q.meanAndPercentiles('trtllm_request_decode_time_seconds', QUANTILES),
    ]),
    lines('Time on the engine', 'Prefill and decode together.', [
      q.meanAndPercentiles('trtllm_request_inference_time_seconds', QUANTILES),
    ]),
    heat(
      'Time to first token, $instance',
      'First tokens per second in each bucket: what the percentiles are made of.',
      q.buckets('trtllm_time_to_first_token_seconds'),
    ),
  ]);
}

function throughput(): RowSpec {
  return closedRow(3, 'Requests and errors', [
    lines('Requests finished, by reason', 'timeout and cancelled are lost work. The reason is never error.', [
      q.rate('trtllm_request_success_total', { by: ['finished_reason'], as: '' }),
      q.rate('trtllm_num_requests_completed_total', { as: 'all, by iterations' }),
    ]),
    lines('Refused', 'HTTP errors by code.', [q.rate('trtllm_request_error_total', { by: ['http_code'], as: '' })]),
  ]);
}

/** TensorRT-LLM: trtllm-serve's /prometheus/metrics, or its worker under Dynamo. */
export function trtllm(): ServerDashboard {
  return {
    uid: 'llmbench-trtllm',
    system: 'trtllm',
    title: 'LLM server: TensorRT-LLM',
    description:
      'trtllm-serve with return_perf_metrics (path /prometheus/metrics; /metrics is JSON that empties when it is read), ' +
      'scheduler and KV cache with enable_iter_perf_stats',
    presence: PRESENCE,
    otherPresence: OTHER_PRESENCE,
    model: { family: PRESENCE, label: 'model_name' },
    choices: [GPU_EXPORTER],
    objectives: [
      {
        name: 'ttft_slo',
        label: 'TTFT objective',
        histogram: 'trtllm_time_to_first_token_seconds',
        measure: 'time_to_first_token',
      },
      {
        name: 'itl_slo',
        label: 'ITL objective',
        histogram: 'trtllm_time_per_output_token_seconds',
        measure: 'inter_token_latency',
      },
    ],
    rows: [
      overview(),
      latency(),
      throughput(),
      ...trtllmFeatureRows(q),
      gpuRow(10, q.selector('trtllm_generation_tokens_total')),
    ],
  };
}
