import { runCovered, targetsUp } from '../server/health.ts';
import { cell, closedRow, heat, lines, row, servers, stacked, type RowSpec } from '../server/panel-spec.ts';
import type { ServerDashboard } from '../server/server-dashboard.ts';
import { ServerQueries } from '../server/server-queries.ts';
import { GPU_EXPORTER, gpuRow } from './gpu-row.ts';
import { trtllmFeatureRows } from './trtllm-features.ts';

/** On the page before the first request, in every version. */
const PRESENCE = 'trtllm_model_config_info';
const QUANTILES = [0.5, 0.9, 0.99];

const q = new ServerQueries({
  systems: ['trtllm'],
  modelLabel: 'model_name',
  // Each process of the server has a series of its own, each rank reports the same batch, and a restart leaves old ones.
  replicas: { labels: ['pid', 'rank'], apart: [] },
});
const whole = q.overRange();

function overview(): RowSpec {
  return row(1, 'Health, saturation, and where the time goes', [
    servers('One row per server: is it healthy, is it saturated.', [
      targetsUp(q, PRESENCE),
      runCovered(q, PRESENCE),
      cell(
        'Refused',
        'requests that got an HTTP error. Failures in the engine have no counter.',
        [whole.rate('trtllm_request_error_total', { zeroWith: 'trtllm_request_success_total' })],
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
      cell(
        'TTFT kept',
        'share of the requests whose first token arrived within the selected objective. Exact, because the objective is a bucket bound; empty if it is not a bound of this server.',
        [whole.within('trtllm_time_to_first_token_seconds', 'ttft_slo')],
        { below: 0.99 },
      ),
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
    // Of its workers under Dynamo.
    otherPresence: 'trtllm_num_aborted_requests_total',
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
