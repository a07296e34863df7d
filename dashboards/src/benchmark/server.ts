import { timeseries } from '../panels/timeseries.ts';
import * as client from '../queries/client.ts';
import { systemKvCacheUsage, systemPercentiles, systemRates, systemSum } from '../queries/system.ts';
import { HALF, THIRD } from './whole-run.ts';
import { OVER_TIME } from '../wording.ts';

/** The client's latencies beside those of the servers, of whatever system, and what these were busy with. */
export function besideServers() {
  return [
    timeseries({
      ...HALF,
      id: 41,
      title: 'Time to first token, client and server',
      description:
        'The client counts from sending to the first content chunk, a server from the arrival to the first token, over all ' +
        'its clients; the definition is in the legend. Both are one value per request; their bucket bounds differ, so ' +
        `compare the distance with the width of a bucket. ${OVER_TIME}`,
      unit: 's',
      queries: [
        ...client.percentilesOverTime('time_to_first_token', [0.5, 0.99], 'client'),
        ...systemPercentiles('time_to_first_token', [0.5, 0.99]),
      ],
    }),
    timeseries({
      ...HALF,
      id: 42,
      title: 'Inter-token latency, client and server',
      description:
        'One mean per request on both sides. vLLM counts 0 for an output of one token, the client leaves it out; Dynamo and ' +
        `Triton have no such family. ${OVER_TIME}`,
      unit: 's',
      queries: [
        ...client.percentilesOverTime('inter_token_latency', [0.5, 0.99], 'client'),
        ...systemPercentiles('inter_token_latency', [0.5, 0.99]),
      ],
    }),
    timeseries({
      ...THIRD,
      id: 43,
      title: 'Requests in the server',
      description:
        'Requests in the batch (running) and in the queue (waiting). If the queue keeps growing, the server is saturated.',
      unit: 'locale',
      axisLabel: 'requests',
      queries: [systemSum('requests_running:sum', 'running'), systemSum('requests_waiting:sum', 'waiting')],
    }),
    timeseries({
      ...THIRD,
      id: 44,
      title: 'KV cache usage',
      description:
        'Share of the KV cache blocks in use, in the fullest engine. Near 100 %, requests wait or are preempted.',
      unit: 'percentunit',
      max: 1,
      queries: [systemKvCacheUsage],
    }),
    timeseries({
      ...THIRD,
      id: 46,
      title: 'Preemptions',
      description:
        'Requests moved back to the queue per second because memory ran short; their work is done again. The dashboard of ' +
        'the system shows the time in the queue and its other metrics.',
      unit: 'reqps',
      queries: [...systemRates('preemptions', 'preempted')],
    }),
  ];
}
