import { detailsRow, lines, type RowSpec } from '../server/panel-spec.ts';
import type { ServerQueries } from '../server/server-queries.ts';

/** Prefill and decode on different servers. */
export function sglangDisaggregationRows(q: ServerQueries): RowSpec[] {
  return [
    detailsRow(11, 'Disaggregated prefill and decode', [
      lines(
        'Queues of the prefill server',
        'bootstrap: waiting for the handshake. in flight: KV being transferred. The queue that grows is the bottleneck.',
        [
          q.gauge('sglang:num_prefill_bootstrap_queue_reqs', { as: 'bootstrap' }),
          q.gauge('sglang:num_prefill_inflight_queue_reqs', { as: 'in flight' }),
        ],
      ),
      lines(
        'Queues of the decode server',
        'preallocation: waiting for KV slots, because decode is full. transfer: receiving KV.',
        [
          q.gauge('sglang:num_decode_prealloc_queue_reqs', { as: 'preallocation' }),
          q.gauge('sglang:num_decode_transfer_queue_reqs', { as: 'transfer' }),
          q.gauge('sglang:num_decode_host_receive_queue_reqs', { as: 'receiving into host memory' }),
          q.gauge('sglang:num_decode_deferred_kv_release_reqs', { as: 'failed, KV still held' }),
        ],
      ),
      lines(
        'KV pool held before decoding',
        'Share of the pool that is reserved for requests whose KV has not arrived, and is not yet used for decoding.',
        [
          q.gauge('sglang:prealloc_full_token_usage', { as: 'full attention' }),
          q.gauge('sglang:prealloc_swa_token_usage', { as: 'sliding window' }),
        ],
        { max: 1 },
      ),
      lines(
        'KV transfer',
        'Handshake, wait for slots at the receiver, transfer: each is part of the time to first token.',
        [
          q.percentiles('sglang:kv_transfer_bootstrap_ms', [0.99], { as: 'handshake' }),
          q.percentiles('sglang:kv_transfer_alloc_ms', [0.99], { as: 'wait for slots' }),
          q.percentiles('sglang:kv_transfer_latency_ms', [0.5, 0.99], { as: 'transfer' }),
        ],
      ),
      lines('KV transfer speed', 'Per request. If it falls under load, the network is saturated.', [
        q.percentiles('sglang:kv_transfer_speed_gb_s', [0.5]),
      ]),
      lines('KV transfer size', 'Per request.', [q.percentiles('sglang:kv_transfer_total_mb', [0.5, 0.99])]),
      lines(
        'Requests lost and done again',
        'Failures in the handshake and in the transfer, and repeated prefills. If there are any, check the network and the other server.',
        [
          q.rate('sglang:num_bootstrap_failed_reqs_total', { as: 'handshake', unit: 'events' }),
          q.rate('sglang:num_transfer_failed_reqs_total', { as: 'transfer', unit: 'events' }),
          q.rate('sglang:num_prefill_retries_total', { as: 'prefill again', unit: 'events' }),
        ],
      ),
      lines('KV releases held back', 'By outcome, and requests received into host memory.', [
        q.rate('sglang:decode_deferred_kv_release_total', { by: ['outcome'], as: '', unit: 'events' }),
        q.rate('sglang:num_decode_host_receive_reqs_total', { as: 'received into host memory', unit: 'events' }),
      ]),
      lines('KV holding time', 'Time for which the memory was not available to other requests.', [
        q.percentiles('sglang:decode_deferred_kv_release_seconds', [0.99]),
      ]),
    ]),
  ];
}
