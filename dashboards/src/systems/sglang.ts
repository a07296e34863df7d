import { runCovered, targetsUp } from '../server/health.ts';
import { cell, kept, closedRow, heat, lines, row, servers, stacked, type RowSpec } from '../server/panel-spec.ts';
import type { ServerDashboard } from '../server/server-dashboard.ts';
import { ServerQueries } from '../server/server-queries.ts';
import { GPU_EXPORTER, gpuRow } from './gpu-row.ts';
import { sglangDisaggregationRows, sglangFeatureRows, sglangGatewayRows } from './sglang-features.ts';
import { NO_RETRACTION, sglangSchedulerRows, ZERO } from './sglang-scheduler.ts';

const PRESENCE = 'sglang:num_running_reqs';
const QUANTILES = [0.5, 0.9, 0.99];

const q = new ServerQueries({
  systems: ['sglang'],
  modelLabel: 'model_name',
  oneModel: true,
  // With priorities there is a series for each and one for all of them, whose priority is empty.
  always: { priority: 'priority=""' },
  // With --enable-metrics-for-all-schedulers every tensor-parallel rank reports the same figures.
  replicas: { labels: ['tp_rank'], apart: ['dp_rank'] },
});
const whole = q.overRange();

function overview(): RowSpec {
  return row(1, 'Health, saturation, and where the time goes', [
    servers('One row per server: is it healthy, is it saturated.', [
      targetsUp(q, PRESENCE),
      runCovered(q, PRESENCE),
      cell(
        'Aborted',
        'requests that were aborted, by the client or by the server.',
        [whole.rate('sglang:num_aborted_requests_total', ZERO)],
        { above: 0 },
      ),
      cell(
        'Max queue',
        'the largest number of requests that waited at any scrape. If it is more than a batch, the load exceeds the capacity of the server.',
        [whole.gauge('sglang:num_queue_reqs')],
      ),
      cell(
        'Max KV',
        'usage of the fullest pool of the fullest rank. Near 100 %, requests are retracted.',
        [whole.gauge('sglang:token_usage')],
        { above: 0.95 },
      ),
      cell(
        'Retracted',
        'requests whose KV cache was dropped and whose work is done again. Any value above 0 means that memory is short.',
        [whole.rate('sglang:num_retracted_requests_total', NO_RETRACTION)],
        { above: 0 },
      ),
      cell('TTFT p99', 'time to first token of streamed requests; unstreamed ones would count their whole latency.', [
        whole.percentiles('sglang:time_to_first_token_seconds', [0.99], STREAMED),
      ]),
      ...kept(
        (edge) => whole.within('sglang:time_to_first_token_seconds', 'ttft_slo', edge, STREAMED),
        'streamed requests',
      ),
      cell('TPOT p99', 'time per output token of streamed requests, one mean per request.', [
        whole.percentiles('sglang:request_time_per_output_token_seconds', [0.99], STREAMED),
      ]),
      cell('Tokens', 'output tokens of requests that finished.', [whole.rate('sglang:generation_tokens_total')]),
    ]),
    stacked(
      'Where the time goes',
      'Mean time in each stage of a request that passed it. Averaged over all requests of the selected servers, those of a warm-up and a cool-down included. If decode_waiting and the transfer stages grow, look at the disaggregation; if the prefill stages grow, prompts are long or cache hits are few.',
      [
        q.meanOverall('sglang:queue_time_seconds', { as: 'queue' }),
        q.meanOverall('sglang:per_stage_req_latency_seconds', { by: ['stage'], as: '' }),
      ],
    ),
    lines(
      'Requests in the server',
      'In the batch (running) and waiting; requests that wait for their grammar are shown apart. If the queue grows while running is constant, the server is saturated.',
      [
        q.gauge('sglang:num_running_reqs', { as: 'running' }),
        q.gauge('sglang:num_queue_reqs', { as: 'waiting' }),
        q.gauge('sglang:num_grammar_queue_reqs', { as: 'waiting for a grammar' }),
      ],
    ),
    lines(
      'KV pool usage',
      'token_usage is the fullest of the others. High alone is no pressure: cached tokens can be evicted; see the token slots below.',
      [
        q.gauge('sglang:token_usage', { as: 'fullest' }),
        q.gauge('sglang:full_token_usage', { as: 'full attention' }),
        q.gauge('sglang:swa_token_usage', { as: 'sliding window' }),
        q.gauge('sglang:mamba_usage', { as: 'Mamba' }),
      ],
      { max: 1 },
    ),
    lines(
      'Time to first token',
      'From arrival to the first token, of streamed requests (or of all, in versions that do not distinguish them). The first bound is 0.1 s: below it an estimate is meaningless.',
      [q.meanAndPercentiles('sglang:time_to_first_token_seconds', QUANTILES, STREAMED)],
      { objective: 'ttft_slo' },
    ),
    lines(
      'Time per output token, per request',
      'Mean decode time per token of each finished request: the speed that a user notices.',
      [q.percentiles('sglang:request_time_per_output_token_seconds', QUANTILES, STREAMED)],
      { objective: 'itl_slo' },
    ),
    lines(
      'Tokens, as they are processed',
      'Counted while requests run: prompt tokens computed, prompt tokens from the cache, tokens decoded.',
      [q.rate('sglang:realtime_tokens_total', { by: ['mode'], as: '' })],
    ),
  ]);
}

const STREAMED = { where: 'is_streaming=~"true|"' };

function latency(): RowSpec {
  return closedRow(2, 'Latency', [
    lines(
      'Gap between tokens',
      'One value per token: the gap of a chunk ÷ its tokens. Not comparable with a mean per request.',
      [q.percentiles('sglang:inter_token_latency_seconds', QUANTILES)],
    ),
    lines('Request latency', 'From arrival to the end. Read it beside the output length.', [
      q.meanAndPercentiles('sglang:e2e_request_latency_seconds', QUANTILES),
    ]),
    lines(
      'Time in the queue',
      'Time in the scheduler before a request ran. If it is far above 0, the server is saturated.',
      [q.meanAndPercentiles('sglang:queue_time_seconds', QUANTILES)],
    ),
    lines('Time by stage', 'p99 of each stage: the one that grows first is the bottleneck.', [
      q.percentiles('sglang:per_stage_req_latency_seconds', [0.99], { by: ['stage'], as: '' }),
    ]),
    heat(
      'Time to first token, $instance',
      'First tokens per second in each bucket: what the percentiles are made of.',
      q.buckets('sglang:time_to_first_token_seconds', STREAMED),
    ),
  ]);
}

function throughput(): RowSpec {
  return closedRow(3, 'Throughput', [
    lines(
      'Tokens of finished requests',
      'Counted when a request ends, and therefore in bursts if responses are long.',
      [
        q.rate('sglang:prompt_tokens_total', { as: 'prompt' }),
        q.rate('sglang:generation_tokens_total', { as: 'output' }),
      ],
    ),
    lines(
      'Decode throughput reported by the scheduler',
      'From its last report, which may be old. Compare it with the tokens decoded.',
      [q.gauge('sglang:gen_throughput', { as: 'decode' })],
    ),
    lines('Requests', 'Finished and aborted per second.', [
      q.rate('sglang:num_requests_total', { as: 'finished' }),
      q.rate('sglang:num_aborted_requests_total', { as: 'aborted', ...ZERO }),
      q.rate('sglang:num_so_requests_total', { as: 'with structured output' }),
    ]),
    lines('Prompt length', 'Of finished requests, and without cached tokens.', [
      q.percentiles('sglang:prompt_tokens_histogram', [0.5, 0.99]),
      q.percentiles('sglang:uncached_prompt_tokens_histogram', [0.99], { as: 'uncached' }),
    ]),
    lines('Output length', 'Of finished requests.', [q.percentiles('sglang:generation_tokens_histogram', [0.5, 0.99])]),
  ]);
}

/** SGLang: the engine, and the gateway before it. */
export function sglang(): ServerDashboard {
  return {
    uid: 'llmbench-sglang',
    system: 'sglang',
    title: 'LLM server: SGLang',
    description:
      'The SGLang engine (--enable-metrics) and its gateway. Prometheus 2 may store the names as sglang_…: the scrape ' +
      'configuration of llmbench renames them',
    presence: PRESENCE,
    model: { family: PRESENCE, label: 'model_name' },
    choices: [
      {
        name: 'gateway',
        label: 'Gateway',
        description: 'Addresses of the gateways, which have a port of their own; all unless some are chosen',
        family: 'smg_http_requests_total',
        of: 'instance',
      },
      GPU_EXPORTER,
    ],
    objectives: [
      {
        name: 'ttft_slo',
        label: 'TTFT objective',
        histogram: 'sglang:time_to_first_token_seconds',
        measure: 'time_to_first_token',
      },
      {
        name: 'itl_slo',
        label: 'ITL objective',
        histogram: 'sglang:request_time_per_output_token_seconds',
        measure: 'inter_token_latency',
      },
    ],
    rows: [
      overview(),
      latency(),
      throughput(),
      ...sglangSchedulerRows(q),
      ...sglangFeatureRows(q),
      ...sglangDisaggregationRows(q),
      ...sglangGatewayRows(),
      gpuRow(15, q.selector('sglang:generation_tokens_total')),
    ],
  };
}
