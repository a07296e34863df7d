import { detailsRow, lines, type RowSpec } from '../server/panel-spec.ts';
import type { ServerQueries } from '../server/server-queries.ts';

/** The TensorRT-LLM backend in Triton: snapshots of the last iteration, whose unit depends on a label. */
export function tritonBackendRow(id: number, q: ServerQueries): RowSpec {
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
