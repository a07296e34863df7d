import { heat, lines, row, type RowSpec } from '../server/panel-spec.ts';
import type { ServerQueries } from '../server/server-queries.ts';

const QUANTILES = [0.5, 0.9, 0.99];

/** vLLM's latencies, split into the parts of a request. */
export function vllmLatencyRow(id: number, q: ServerQueries): RowSpec {
  return row(id, 'Latency: queue, prefill, decode', [
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
