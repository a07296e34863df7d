import { RowBuilder, type DashboardBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { timeseries } from '../panels/timeseries.ts';
import * as client from '../queries/client.ts';
import * as vllm from '../queries/vllm.ts';
import { HALF, THIRD } from './sizes.ts';
import { OVER_TIME } from './wording.ts';

/** The client's latencies beside vLLM's own, and what vLLM was busy with. */
export function withServer(dashboard: DashboardBuilder): void {
  dashboard
    .withRow(new RowBuilder('Beside the server (vLLM)').id(4))
    .withPanel(
      timeseries({
        ...HALF,
        id: 41,
        title: 'Time to first token, client and server',
        description:
          "The client counts from sending to the first content chunk; vLLM's vllm:time_to_first_token_seconds from the " +
          'arrival at its API server to the first token, over all its clients. Both are one value per request; their ' +
          `bucket bounds differ, so compare the distance with the width of a bucket. ${OVER_TIME}`,
        unit: 's',
        queries: [
          ...client.percentilesOverTime('time_to_first_token', [0.5, 0.99], 'client'),
          ...vllm.vllmPercentiles('vllm:time_to_first_token_seconds', [0.5, 0.99]),
        ],
      }),
    )
    .withPanel(
      timeseries({
        ...HALF,
        id: 42,
        title: 'Inter-token latency, client and server',
        description:
          "The client's inter-token latency beside vLLM's vllm:request_time_per_output_token_seconds: both are one mean " +
          'per request; vLLM counts 0 for an output of one token, the client leaves it out. ' +
          OVER_TIME,
        unit: 's',
        queries: [
          ...client.percentilesOverTime('inter_token_latency', [0.5, 0.99], 'client'),
          ...vllm.vllmPercentiles('vllm:request_time_per_output_token_seconds', [0.5, 0.99]),
        ],
      }),
    )
    .withPanel(
      timeseries({
        ...THIRD,
        id: 43,
        title: 'Requests in the server',
        description: 'Requests in the batch (running) and in the queue (waiting). A queue that grows: saturated.',
        unit: 'locale',
        axisLabel: 'requests',
        queries: [
          vllm.vllmGauge('vllm:num_requests_running', 'running'),
          vllm.vllmGauge('vllm:num_requests_waiting', 'waiting'),
        ],
      }),
    )
    .withPanel(
      timeseries({
        ...THIRD,
        id: 44,
        title: 'KV cache usage',
        description: 'Share of the KV cache blocks in use, per engine. Near 100 % requests wait or are preempted.',
        unit: 'percentunit',
        max: 1,
        queries: [vllm.vllmEngineGauge('vllm:kv_cache_usage_perc')],
      }),
    )
    .withPanel(
      timeseries({
        ...THIRD,
        id: 45,
        title: 'Time in the queue',
        description: `Time that finished requests waited in vLLM before they were scheduled. ${OVER_TIME}`,
        unit: 's',
        queries: vllm.vllmPercentiles('vllm:request_queue_time_seconds', [0.5, 0.99]),
      }),
    );
}
