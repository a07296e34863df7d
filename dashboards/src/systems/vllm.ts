import { runCovered, targetsUp } from '../server/health.ts';
import { cell, kept, closedRow, heat, lines, row, servers, stacked, type RowSpec } from '../server/panel-spec.ts';
import type { ServerDashboard } from '../server/server-dashboard.ts';
import { ServerQueries } from '../server/server-queries.ts';
import { GPU_EXPORTER, gpuRow, lmcacheRow } from './gpu-row.ts';
import { NIXL_AGENT, nixlRow } from './nixl-row.ts';
import { vllmFeatureRows } from './vllm-features.ts';

const PRESENCE = 'vllm:num_requests_running';

const q = new ServerQueries({ systems: ['vllm'], modelLabel: 'model_name', oneModel: true });
const whole = q.overRange();

function overview(): RowSpec {
  return row(1, 'Health, saturation, and where the time goes', [
    servers('One row per server: is it healthy, is it saturated.', [
      targetsUp(q, PRESENCE),
      runCovered(q, PRESENCE),
      cell(
        'Failed',
        'share of the finished requests that ended in an error. vLLM does not count requests whose client disconnected.',
        [whole.share('vllm:request_success_total', 'finished_reason="error"')],
        { above: 0 },
      ),
      cell(
        'Max queue',
        'the largest number of requests that waited at any scrape. If it is more than a batch, the load exceeds the capacity of the server.',
        [whole.gauge('vllm:num_requests_waiting')],
      ),
      cell(
        'Max KV',
        'highest usage of the cache of any engine. Near 100 %, requests wait or are preempted: send fewer or shorter requests, or add memory.',
        [whole.gauge('vllm:kv_cache_usage_perc')],
        { above: 0.95 },
      ),
      cell(
        'Preempts',
        'requests moved back to the queue to free KV cache; their work is done again. Any value above 0 means that memory is short.',
        [whole.rate('vllm:num_preemptions_total')],
        { above: 0 },
      ),
      cell('TTFT p99', 'time to first token, from arrival at the API server.', [
        whole.percentiles('vllm:time_to_first_token_seconds', [0.99]),
      ]),
      ...kept((edge) => whole.within('vllm:time_to_first_token_seconds', 'ttft_slo', edge)),
      cell('TPOT p99', 'time per output token, one mean per request.', [
        whole.percentiles('vllm:request_time_per_output_token_seconds', [0.99]),
      ]),
      cell('Tokens', 'output tokens generated.', [whole.rate('vllm:generation_tokens_total')]),
    ]),
    stacked(
      'Where the time goes',
      'Means of the parts of a request that finished: their sum is its time in the engine. Averaged over all requests of the selected servers, those of a warm-up and a cool-down included. If the queue grows, the server is saturated; if prefill grows, prompts are long or cache hits are few; if decode grows, batches are large or responses are long.',
      [
        q.meanOverall('vllm:request_queue_time_seconds', { as: 'queue' }),
        q.meanOverall('vllm:request_prefill_time_seconds', { as: 'prefill' }),
        q.meanOverall('vllm:request_decode_time_seconds', { as: 'decode' }),
      ],
    ),
    lines(
      'Requests in the server',
      'In the batch (running) and in the queue (waiting). If the queue grows while running is constant, the batch or the KV cache is full.',
      [
        q.gauge('vllm:num_requests_running', { as: 'running' }),
        q.gauge('vllm:num_requests_waiting', { as: 'waiting' }),
      ],
    ),
    lines(
      'KV cache usage',
      'Share of the blocks in use, of the fullest engine. Near 100 %: the next request waits, or a running one is preempted.',
      [q.gauge('vllm:kv_cache_usage_perc', { as: 'KV cache' })],
      { max: 1 },
    ),
    lines(
      'Time to first token',
      'From arrival at the API server to the first token: tokenization, queue and prefill. Compare it with the queue time to see which part grows.',
      [q.percentiles('vllm:time_to_first_token_seconds', QUANTILES)],
      { objective: 'ttft_slo' },
    ),
    lines(
      'Time per output token, per request',
      'Mean decode time per token of each finished request: the speed that a user notices. Grows with the batch.',
      [q.percentiles('vllm:request_time_per_output_token_seconds', QUANTILES)],
      { objective: 'itl_slo' },
    ),
    lines(
      'Tokens',
      'Prompt tokens whose prefill is complete, and tokens generated. Prompt tokens include cached ones, which cost next to nothing.',
      [q.rate('vllm:prompt_tokens_total', { as: 'prompt' }), q.rate('vllm:generation_tokens_total', { as: 'output' })],
    ),
  ]);
}

function throughput(): RowSpec {
  return closedRow(3, 'Throughput and errors', [
    lines(
      'Requests finished, by reason',
      'stop: the model ended the response. length: the limit of output tokens was reached. repetition: a loop was ended. abort and error are lost work.',
      [q.rate('vllm:request_success_total', { by: ['finished_reason'], as: '' })],
    ),
    lines(
      'HTTP answers by status',
      'HTTP responses of the API server. 4xx: rejected requests, which no vllm: family counts. 5xx: failures.',
      [q.rate('http_requests_total', { by: ['status'], as: '' })],
    ),
    lines(
      'Corrupted requests',
      'Requests with NaN among the logits, whose responses are wrong. Stop the benchmark and find the cause.',
      [q.rate('vllm:corrupted_requests_total', { as: 'corrupted' })],
    ),
    lines(
      'Prompt tokens by source',
      'Computed here, from the local prefix cache, or transferred from elsewhere. Only what is computed costs prefill time.',
      [q.rate('vllm:prompt_tokens_by_source_total', { by: ['source'], as: '' })],
    ),
    lines('Prompt length', 'Of finished requests. A change explains a change of the time to first token.', [
      q.percentiles('vllm:request_prompt_tokens', [0.5, 0.99]),
      q.percentiles('vllm:request_prefill_kv_computed_tokens', [0.99], { as: 'computed' }),
    ]),
    lines(
      'Output length',
      'Of finished requests, with the requested length. A change explains a change of the request latency.',
      [
        q.percentiles('vllm:request_generation_tokens', [0.5, 0.99]),
        q.percentiles('vllm:request_params_max_tokens', [0.99], { as: 'max_tokens' }),
        q.percentiles('vllm:request_max_num_generation_tokens', [0.99], { as: 'longest sequence' }),
      ],
    ),
    lines('Answers per request', 'Mean of n, the number of completions requested: each needs its own decode time.', [
      q.mean('vllm:request_params_n', { as: 'n' }),
    ]),
  ]);
}

function scheduler(): RowSpec {
  return closedRow(4, 'Scheduler', [
    lines(
      'Waiting, by reason',
      'capacity: no room in the batch or the KV cache. deferred: held back for a transfer or a constraint.',
      [q.gauge('vllm:num_requests_waiting_by_reason', { by: ['reason'], as: '' })],
    ),
    lines(
      'Preemptions',
      'Requests moved back to the queue per second, and how often a finished request was preempted. Lower the concurrency, or give the KV cache more memory.',
      [
        q.rate('vllm:num_preemptions_total', { as: 'preempted' }),
        q.sumRate('vllm:request_num_preemptions', { as: 'of finished requests' }),
      ],
    ),
    lines(
      'Turned away',
      'Requests rejected by a queue limit before they reached an engine. The client gets an error at once.',
      [q.rate('vllm:admission_rejections_total', { by: ['reason'], as: '' })],
    ),
    lines(
      'Tokens per step',
      'Prompt and output tokens handled in one step of the engine: the effective batch. Higher is better use of the GPU and longer steps.',
      [q.mean('vllm:iteration_tokens_total', { as: 'mean' }), q.percentiles('vllm:iteration_tokens_total', [0.99])],
    ),
    lines(
      'Steps',
      'Steps of the engine per second. They fall as batches grow. If they are 0 while requests wait, the engine hangs.',
      [q.observations('vllm:iteration_tokens_total', 'steps', { as: 'steps' })],
    ),
    lines(
      'Sleep state',
      '1 for the current state of the engine. If it is not awake, it serves no requests until it is woken.',
      [q.gauge('vllm:engine_sleep_state', { by: ['sleep_state'], as: '' })],
      { max: 1 },
    ),
  ]);
}

/** vLLM: the engine and its API server on one page. */
export function vllm(): ServerDashboard {
  return {
    uid: 'llmbench-vllm',
    system: 'vllm',
    title: 'LLM server: vLLM',
    description: 'Metrics of vLLM: queue, prefill, decode, KV cache and features',
    presence: PRESENCE,
    model: { family: PRESENCE, label: 'model_name' },
    choices: [GPU_EXPORTER, NIXL_AGENT],
    objectives: [
      {
        name: 'ttft_slo',
        label: 'TTFT objective',
        histogram: 'vllm:time_to_first_token_seconds',
        measure: 'time_to_first_token',
      },
      {
        name: 'itl_slo',
        label: 'ITL objective',
        histogram: 'vllm:request_time_per_output_token_seconds',
        measure: 'inter_token_latency',
      },
    ],
    rows: [
      overview(),
      vllmLatencyRow(2, q),
      throughput(),
      scheduler(),
      ...vllmFeatureRows(q),
      nixlRow(16),
      lmcacheRow(14),
      gpuRow(15, q.selector('vllm:generation_tokens_total')),
    ],
  };
}

const QUANTILES = [0.5, 0.9, 0.99];

/** vLLM's latencies, split into the parts of a request. */
function vllmLatencyRow(id: number, q: ServerQueries): RowSpec {
  return closedRow(id, 'Latency: queue, prefill, decode', [
    lines(
      'Request latency',
      'From arrival to the last token, of finished requests. Read it beside the output length.',
      [q.meanAndPercentiles('vllm:e2e_request_latency_seconds', QUANTILES)],
    ),
    lines(
      'Time in the queue',
      'Time before a request was scheduled. If it is far above 0, the server is saturated: add replicas or reduce the load.',
      [q.meanAndPercentiles('vllm:request_queue_time_seconds', QUANTILES)],
    ),
    lines(
      'Prefill time',
      'From being scheduled to the first token. Grows with prompt length and with prefills that share a step.',
      [q.meanAndPercentiles('vllm:request_prefill_time_seconds', QUANTILES)],
    ),
    lines('Decode time', 'From the first to the last token. Grows with the output length and the batch.', [
      q.meanAndPercentiles('vllm:request_decode_time_seconds', QUANTILES),
    ]),
    lines(
      'Gap between output steps',
      'One value per step of a request, not per request. The high percentiles are the pauses that a user notices, mostly caused by prefills of other requests.',
      [q.percentiles('vllm:inter_token_latency_seconds', QUANTILES)],
    ),
    lines(
      'Time in the engine',
      'Prefill and decode together: the request latency without the queue and the API server.',
      [q.meanAndPercentiles('vllm:request_inference_time_seconds', QUANTILES)],
    ),
    heat(
      'Time to first token, $instance',
      'First tokens per second in each bucket: what the percentiles are made of. Two bands are two kinds of requests, such as cached and not.',
      q.buckets('vllm:time_to_first_token_seconds'),
    ),
  ]);
}
