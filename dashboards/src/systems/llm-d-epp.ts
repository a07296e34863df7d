import { targetsUp } from '../server/health.ts';
import { cell, closedRow, lines, row, servers, type RowSpec } from '../server/panel-spec.ts';
import type { ServerDashboard } from '../server/server-dashboard.ts';
import { ServerQueries } from '../server/server-queries.ts';

const PRESENCE = 'llm_d_epp_ready_endpoints';
const QUANTILES = [0.5, 0.9, 0.99];

const q = new ServerQueries({ systems: ['llm-d-epp'], modelLabel: 'model_name' });
const whole = q.overRange();

function overview(): RowSpec {
  return row(1, 'Health, saturation, and where the time goes', [
    servers('One row per router: is it healthy, is its pool saturated.', [
      targetsUp(q, PRESENCE),
      cell('Requests', 'requests that the router handled.', [whole.rate('llm_d_epp_request_total')]),
      cell(
        'Failed',
        'empty before the first failure: a series begins with it.',
        [whole.rate('llm_d_epp_request_error_total')],
        { above: 0 },
      ),
      cell('Ready', 'the largest number at any scrape. The router can only choose among these.', [
        whole.gauge('llm_d_epp_ready_endpoints'),
      ]),
      cell('TTFT p99', 'from the arrival at the router to the first byte of the response.', [
        whole.percentiles('llm_d_epp_request_ttft_seconds', [0.99]),
      ]),
    ]),
    lines('Requests', 'Finished per second, and those that failed, by code.', [
      q.rate('llm_d_epp_request_total', { as: 'requests' }),
      q.rate('llm_d_epp_request_error_total', { by: ['error_code'], as: 'failed' }),
    ]),
    lines('Requests under way', 'Through the router, and on average at each server of the pool.', [
      q.gauge('llm_d_epp_request_running', { as: 'under way' }),
      q.gauge('llm_d_epp_average_running_requests', { by: ['name'], as: 'per server' }),
      q.gauge('llm_d_epp_average_queue_size', { by: ['name'], as: 'mean waiting' }),
    ]),
    lines(
      'Saturation of the pool',
      'From 1 on, flow control holds requests. Servers whose metrics are old count as saturated: see the errors of reading them.',
      [
        q.gauge('llm_d_epp_flow_control_pool_saturation', { by: ['inference_pool'], as: 'saturation' }),
        q.gauge('llm_d_epp_average_kv_cache_utilization', { by: ['name'], as: 'mean KV usage' }),
      ],
    ),
    lines(
      'Time to first token',
      'From the arrival at the router to the first byte of the response; without streaming it is the whole request.',
      [q.percentiles('llm_d_epp_request_ttft_seconds', QUANTILES)],
    ),
    lines('Time per output token, per request', 'Mean of each streamed request.', [
      q.percentiles('llm_d_epp_request_streaming_tpot_seconds', QUANTILES),
    ]),
    lines('Time of a decision', 'A few milliseconds are normal; with more, the router is short of CPU.', [
      q.meanAndPercentiles('llm_d_epp_scheduler_e2e_duration_seconds', [0.99]),
    ]),
  ]);
}

function latency(): RowSpec {
  return closedRow(2, 'Latency as the router sees it', [
    lines('Request latency', 'From the arrival at the router to the end of the response.', [
      q.meanAndPercentiles('llm_d_epp_request_duration_seconds', QUANTILES),
    ]),
    lines('Gaps between chunks', 'One value per gap of a streamed response.', [
      q.percentiles('llm_d_epp_request_streaming_itl_seconds', QUANTILES),
    ]),
    lines('Prompt and output length', 'From the usage that the servers report, with the tokens from a cache.', [
      q.percentiles('llm_d_epp_request_input_tokens', [0.5], { as: 'prompt' }),
      q.percentiles('llm_d_epp_request_cached_tokens', [0.5], { as: 'cached' }),
      q.percentiles('llm_d_epp_request_output_tokens', [0.5], { as: 'output' }),
    ]),
  ]);
}

function scheduling(): RowSpec {
  return closedRow(3, 'Choice of a server', [
    lines('Time of each plugin', 'Mean at its extension point: the slowest one decides the time of a decision.', [
      q.mean('llm_d_epp_plugin_duration_seconds', { by: ['extension_point', 'plugin_name'], as: '' }),
    ]),
    lines('Decisions by server', 'If they are uneven, the scorers prefer the cache to the load.', [
      q.rate('llm_d_epp_scheduler_attempts_total', { by: ['status', 'endpoint_name'], as: '' }),
    ]),
    lines('Queue of each server', 'As the router last read it.', [
      q.gauge('llm_d_epp_per_endpoint_queue_size', { by: ['model_server_endpoint'], as: '' }),
    ]),
    lines('Balance of the pool', 'Standard deviation over the servers: 0 is even.', [
      q.gauge('llm_d_epp_std_dev_queue_size', { by: ['name'], as: 'waiting requests' }),
      q.gauge('llm_d_epp_std_dev_running_requests', { by: ['name'], as: 'running requests' }),
    ]),
    lines(
      'Expected cache hits',
      'Share of a prompt that the approximate index expects in the cache of a server. If it is far above the hits that the engines report, the index is out of date.',
      [q.mean('llm_d_epp_prefix_indexer_hit_ratio', { as: 'mean' })],
      { max: 1 },
    ),
    lines('Errors of reading the servers', 'Above 0, decisions rest on old data.', [
      q.rate('llm_d_epp_datalayer_poll_errors_total', { by: ['source_type'], as: 'read' }),
      q.rate('llm_d_epp_datalayer_extract_errors_total', { by: ['source_type'], as: 'understood' }),
    ]),
  ]);
}

function flowControl(): RowSpec {
  return closedRow(4, 'Flow control and disaggregation', [
    lines('Requests held', 'By pool. If they grow, all servers are at their limit.', [
      q.gauge('llm_d_epp_flow_control_queue_size', { by: ['inference_pool'], as: 'held' }),
    ]),
    lines('Time held', 'Until a request left flow control, whatever its outcome.', [
      q.percentiles('llm_d_epp_flow_control_request_queue_duration_seconds', [0.5, 0.99]),
    ]),
    lines('Split into stages', 'Requests by the stages that the router splits them into.', [
      q.rate('llm_d_epp_disagg_decision_total', { by: ['decision_type'], as: '' }),
    ]),
    lines('KV cache over the servers', 'Standard deviation of the KV cache usage: 0 is even.', [
      q.gauge('llm_d_epp_std_dev_kv_cache_utilization', { by: ['name'], as: 'deviation' }),
    ]),
  ]);
}

/** llm-d: the endpoint picker, which chooses a server for each request. The servers have dashboards of their own. */
export function llmdEpp(): ServerDashboard {
  return {
    uid: 'llmbench-llm-d-epp',
    system: 'llm-d-epp',
    title: 'LLM router: llm-d',
    description: 'The endpoint picker (EPP) of llm-d; the servers that it chooses have dashboards of their own',
    presence: PRESENCE,
    model: { family: 'llm_d_epp_request_total', label: 'model_name' },
    rows: [overview(), latency(), scheduling(), flowControl()],
  };
}
