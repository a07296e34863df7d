import { runCovered, targetsUp } from '../server/health.ts';
import {
  detailsRow,
  lines,
  cell,
  closedRow,
  heat,
  row,
  servers,
  stacked,
  type RowSpec,
  type SignalOptions,
} from '../server/panel-spec.ts';
import type { ServerDashboard } from '../server/server-dashboard.ts';
import { ServerQueries } from '../server/server-queries.ts';
import { GPU_EXPORTER, gpuRow } from './gpu-row.ts';

/** The TensorRT-LLM backend in Triton: snapshots of the last iteration, whose unit depends on a label. */
function tritonBackendRow(id: number, q: ServerQueries): RowSpec {
  return detailsRow(id, 'TensorRT-LLM backend', [
    lines('Requests by state', 'waiting: active and not scheduled. Requests in the queue of Triton are not included.', [
      q.gauge('nv_trt_llm_request_metrics', { by: ['request_type'], as: '' }),
    ]),
    lines('KV cache blocks', 'Near max: requests wait or are paused.', [
      q.gauge('nv_trt_llm_kv_cache_block_metrics', {
        by: ['kv_cache_block_type'],
        where: 'kv_cache_block_type=~"max|free|used|reused"',
        as: '',
        unit: 'blocks',
      }),
    ]),
    lines(
      'KV cache usage',
      'Share of the blocks in use.',
      [
        q.gauge('nv_trt_llm_kv_cache_block_metrics', {
          where: 'kv_cache_block_type="fraction"',
          as: 'used',
          unit: 'ratio',
        }),
      ],
      { max: 1 },
    ),
    lines('In-flight batcher: requests', 'Requests in decode, and those paused because no KV block is free.', [
      q.gauge('nv_trt_llm_inflight_batcher_metrics', {
        by: ['inflight_batcher_specific_metric'],
        where: 'inflight_batcher_specific_metric=~"generation_requests|paused_requests"',
        as: '',
        unit: 'requests',
      }),
    ]),
    lines(
      'Prompt tokens in the batch',
      'Of the last iteration; V1 is the static batcher, which has either this family or the other.',
      [
        q.gauge('nv_trt_llm_inflight_batcher_metrics', {
          where: 'inflight_batcher_specific_metric="total_context_tokens"',
          as: 'in flight',
          unit: 'tokens',
        }),
        q.gauge('nv_trt_llm_v1_metrics', {
          where: 'v1_specific_metric="total_context_tokens"',
          as: 'V1',
          unit: 'tokens',
        }),
      ],
    ),
    lines('Memory of the runtime', 'By kind.', [
      q.gauge('nv_trt_llm_runtime_memory_metrics', { by: ['memory_type'], as: '' }),
    ]),
    lines('Prompt and output length', 'Per request.', [
      q.percentiles('nv_llm_input_token_len', [0.5, 0.99], { as: 'prompt' }),
      q.percentiles('nv_llm_output_token_len', [0.5, 0.99], { as: 'output' }),
    ]),
    lines(
      'Iterations',
      'Iterations per second, from a gauge that counts them. If it is 0 while requests wait, the engine hangs.',
      [
        q.custom(
          `sum by (model, instance) (deriv(${q.selector('nv_trt_llm_general_metrics', 'general_type="iteration_counter"')}[$__rate_interval]))`,
          ['nv_trt_llm_general_metrics'],
          { unit: 'cps', axis: 'iterations per second' },
          'iterations {{model}} {{instance}}',
        ),
      ],
    ),
    lines('KV transfers', 'Time of KV transfers per transfer, in a disaggregated deployment.', [
      q.custom(
        `${transfer(q, 'kv_cache_transfer_ms')} / ${transfer(q, 'request_count')}`,
        ['nv_trt_llm_disaggregated_serving_metrics'],
        { unit: 'ms' },
        'mean {{model}} {{instance}}',
      ),
    ]),
  ]);
}

function transfer(q: ServerQueries, type: string): string {
  const series = q.selector('nv_trt_llm_disaggregated_serving_metrics', `disaggregated_serving_type="${type}"`);
  return `sum by (model, instance) (rate(${series}[$__rate_interval]))`;
}

const PRESENCE = 'nv_inference_request_success';

const q = new ServerQueries({ systems: ['triton'], modelLabel: 'model' });
const backend = new ServerQueries({ systems: ['triton-trtllm-backend'], modelLabel: 'model' });
const whole = q.overRange();

/** Triton counts durations in microseconds; ÷ a count they are a mean. */
function meanTime(duration: string, per: string, options: SignalOptions) {
  return q.ratio(duration, per, { ...options, unit: 'microseconds' });
}

function meanTimeOverall(duration: string, per: string, options: SignalOptions) {
  return q.ratioOverall(duration, per, { ...options, unit: 'microseconds' });
}

function failureShare(): string {
  const failed = `sum by (instance) (increase(${q.selector('nv_inference_request_failure')}[$__range]))`;
  const success = `sum by (instance) (increase(${q.selector('nv_inference_request_success')}[$__range]))`;
  return `${failed} / (${failed} + ${success})`;
}

function overview(): RowSpec {
  return row(1, 'Health, saturation, and where the time goes', [
    servers('One row per server, all its models together: is it healthy, is it saturated.', [
      targetsUp(q, PRESENCE),
      runCovered(q, PRESENCE),
      cell(
        'Failed',
        'lower bound of the share of failed requests: Triton counts rejections and exceptions as failures, but an error that a model returns as a success.',
        [
          q.custom(
            failureShare(),
            ['nv_inference_request_failure', 'nv_inference_request_success'],
            { unit: 'percentunit' },
            'failed {{instance}}',
          ),
        ],
        { above: 0 },
      ),
      cell('Max queue', 'the largest number of requests that waited for execution at any scrape.', [
        whole.gauge('nv_inference_pending_request_count'),
      ]),
      cell('Requests', 'successful requests. A stream is one request.', [whole.rate('nv_inference_request_success')]),
      cell(
        'First p99',
        'time to the first response; of a streaming model this is the first token. Empty without histograms.',
        [whole.percentiles('nv_inference_first_response_histogram_ms', [0.99])],
      ),
    ]),
    stacked(
      'Where the time goes',
      'Mean time per request in the queue, and in input, model and output. Averaged over all requests of the selected servers, those of a warm-up and a cool-down included. Requests that the response cache answered have no compute time. Streaming Python models end it when they take the request over.',
      [
        meanTimeOverall('nv_inference_queue_duration_us', 'nv_inference_request_success', { as: 'queue' }),
        meanTimeOverall('nv_inference_compute_input_duration_us', 'nv_inference_request_success', { as: 'input' }),
        meanTimeOverall('nv_inference_compute_infer_duration_us', 'nv_inference_request_success', { as: 'model' }),
        meanTimeOverall('nv_inference_compute_output_duration_us', 'nv_inference_request_success', { as: 'output' }),
      ],
    ),
    lines(
      'Requests waiting',
      'Requests waiting for execution, by model. If they grow, add instances of the model or lower the load.',
      [q.gauge('nv_inference_pending_request_count', { as: 'waiting' })],
    ),
    lines(
      'Requests',
      'Successful ones per second, and failures by reason. REJECTED: the queue was full or too slow (HTTP 503).',
      [
        q.rate('nv_inference_request_success', { as: 'ok' }),
        q.rate('nv_inference_request_failure', { by: ['reason'], as: 'failed' }),
      ],
    ),
    lines(
      'Time to first response',
      'The default bounds are coarse (0.1, 0.5, 2, 5 s): set finer ones per model.',
      [q.meanAndPercentiles('nv_inference_first_response_histogram_ms', [0.5, 0.9, 0.99])],
      { objective: 'ttft_slo_ms' },
    ),
    lines(
      'Mean request time',
      'Time in the server, cache hits included. Without summaries, it has no percentiles. It is not the duration of a stream.',
      [meanTime('nv_inference_request_duration_us', 'nv_inference_request_success', { as: 'mean' })],
    ),
    lines(
      'Mean batch',
      'Inferences ÷ executions. If it is 1 under load, dynamic batching is off or its delay is too short.',
      [q.ratio('nv_inference_count', 'nv_inference_exec_count', { as: 'batch', unit: 'inferences' })],
    ),
  ]);
}

function latency(): RowSpec {
  return closedRow(2, 'Latency', [
    lines(
      'Request and queue time, as summarized by the server',
      "Triton's own p99 of the last minute. It cannot be added or averaged.",
      [
        q.summaryQuantile('nv_inference_request_summary_us', '0.99', { as: 'request' }),
        q.summaryQuantile('nv_inference_queue_summary_us', '0.99', { as: 'queue' }),
      ],
    ),
    lines(
      'Compute time, as summarized by the server',
      "Triton's own p99 of the last minute. It cannot be added or averaged.",
      [
        q.summaryQuantile('nv_inference_compute_input_summary_us', '0.99', { as: 'input' }),
        q.summaryQuantile('nv_inference_compute_infer_summary_us', '0.99', { as: 'model' }),
        q.summaryQuantile('nv_inference_compute_output_summary_us', '0.99', { as: 'output' }),
      ],
    ),
    heat(
      'Time to first response, $instance',
      'First responses per second in each bucket.',
      q.buckets('nv_inference_first_response_histogram_ms'),
    ),
  ]);
}

function batching(): RowSpec {
  return closedRow(3, 'Batching and response cache', [
    lines('Inferences', 'Per second; a batch of n counts n, cache hits are left out.', [
      q.rate('nv_inference_count', { as: 'inferences' }),
    ]),
    lines('Executions', 'Of the model per second.', [q.rate('nv_inference_exec_count', { as: 'executions' })]),
    lines(
      'Response cache hits',
      'Hits ÷ lookups.',
      [
        q.custom(
          `${cached('hits')} / (${cached('hits')} + ${cached('misses')})`,
          ['nv_cache_num_hits_per_model', 'nv_cache_num_misses_per_model'],
          { unit: 'percentunit' },
          'hits {{model}} {{instance}}',
        ),
      ],
      { max: 1 },
    ),
    lines('Mean time at the response cache', 'Of a hit (lookup) and of a miss (lookup and insert).', [
      meanTime('nv_cache_hit_duration_per_model', 'nv_cache_num_hits_per_model', { as: 'hit' }),
      meanTime('nv_cache_miss_duration_per_model', 'nv_cache_num_misses_per_model', { as: 'miss' }),
    ]),
    lines(
      'Time at the response cache, as summarized by the server',
      "Triton's own p99 of the last minute. It cannot be added or averaged.",
      [
        q.summaryQuantile('nv_cache_hit_summary_per_model', '0.99', { as: 'hit' }),
        q.summaryQuantile('nv_cache_miss_summary_per_model', '0.99', { as: 'miss' }),
      ],
    ),
  ]);
}

function cached(what: 'hits' | 'misses'): string {
  return `sum by (model, instance) (rate(${q.selector(`nv_cache_num_${what}_per_model`)}[$__rate_interval]))`;
}

function host(): RowSpec {
  const gpu = { by: ['gpu_uuid'] };
  return closedRow(4, 'Host and GPU, reported by Triton', [
    lines(
      'CPU and GPU utilization',
      'Of the whole host, and of each GPU. Flat 0 may mean that Triton cannot read it.',
      [q.gauge('nv_cpu_utilization', { as: 'CPU' }), q.gauge('nv_gpu_utilization', { ...gpu, as: 'GPU' })],
      { max: 1 },
    ),
    lines('Memory', 'Of the host, of each GPU, and of the pinned pool. When the pool is full, copies become slow.', [
      q.gauge('nv_cpu_memory_used_bytes', { as: 'host' }),
      q.gauge('nv_cpu_memory_total_bytes', { as: 'host, all' }),
      q.gauge('nv_gpu_memory_used_bytes', { ...gpu, as: 'GPU' }),
      q.gauge('nv_gpu_memory_total_bytes', { ...gpu, as: 'GPU, all' }),
      q.gauge('nv_pinned_memory_pool_used_bytes', { as: 'pinned' }),
      q.gauge('nv_pinned_memory_pool_total_bytes', { as: 'pinned, all' }),
    ]),
    lines('GPU power', 'Power draw, its limit, and the mean from the energy counter. At the limit, clocks fall.', [
      q.gauge('nv_gpu_power_usage', { ...gpu, as: 'now' }),
      q.gauge('nv_gpu_power_limit', { ...gpu, as: 'limit' }),
      q.rate('nv_energy_consumption', { ...gpu, as: 'from energy' }),
    ]),
  ]);
}

/** Triton Inference Server and the TensorRT-LLM backend in it. */
export function triton(): ServerDashboard {
  return {
    uid: 'llmbench-triton',
    system: 'triton',
    title: 'LLM server: Triton',
    description:
      'Triton Inference Server (port 8002): means from counters, percentiles only where histograms or summaries are switched on',
    presence: PRESENCE,
    model: { family: PRESENCE, label: 'model' },
    choices: [GPU_EXPORTER],
    objectives: [
      {
        name: 'ttft_slo_ms',
        label: 'First response objective (ms)',
        histogram: 'nv_inference_first_response_histogram_ms',
        measure: 'time_to_first_token',
        perSecond: 1000,
      },
    ],
    rows: [
      overview(),
      latency(),
      batching(),
      host(),
      tritonBackendRow(5, backend),
      gpuRow(6, backend.selector('nv_llm_output_token_len_sum')),
    ],
  };
}
