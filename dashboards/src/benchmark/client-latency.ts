import type { ClientHistogram } from '../../../prometheus/queries.ts';
import { heatmap } from '../panels/heatmap.ts';
import { NO_RUN, objectiveLine, timeseries } from '../panels/timeseries.ts';
import * as client from '../queries/client.ts';
import type { Query } from '../target.ts';
import { HALF } from './whole-run.ts';
import { OVER_TIME } from '../wording.ts';

const QUANTILES = [0.5, 0.9, 0.99];
const NO_TOKENS = `${NO_RUN} Runs of embeddings, rerank and score have no tokens: their latency is in "Latency and errors in detail".`;

/** Of a histogram whose buckets name traced requests: Prometheus finds them by one query. */
function withExemplars(histogram: ClientHistogram): Query[] {
  return client
    .percentilesOverTime(histogram, QUANTILES)
    .map((query, i) => (i === QUANTILES.length - 1 ? { ...query, exemplars: true } : query));
}

/** The latencies that a user notices. */
export function latencyOverTime() {
  return [
    timeseries({
      ...HALF,
      id: 31,
      title: 'Time to first token, percentiles',
      description: `From sending a request to its first chunk with content. Dashed: the objective. ${OVER_TIME}`,
      unit: 's',
      noValue: NO_TOKENS,
      queries: [...withExemplars('time_to_first_token'), objectiveLine('ttft_slo')],
    }),
    timeseries({
      ...HALF,
      id: 32,
      title: 'Inter-token latency, percentiles',
      description: `One value per request: (last − first content chunk) ÷ (output tokens − 1). ${OVER_TIME}`,
      unit: 's',
      noValue: NO_TOKENS,
      queries: withExemplars('inter_token_latency'),
    }),
  ];
}

/** What explains them. */
export function latencyInDetail() {
  return [
    timeseries({
      ...HALF,
      id: 33,
      title: 'Request latency, percentiles',
      description: `From sending a request to its last chunk with content. ${OVER_TIME}`,
      unit: 's',
      queries: withExemplars('request_latency'),
    }),
    timeseries({
      ...HALF,
      id: 34,
      title: 'Time to first token, from due and from sent',
      description:
        'The same first token, counted from when the request was due and from when it was sent. The distance is the ' +
        `time that requests waited in the client, which a closed loop hides. ${OVER_TIME}`,
      unit: 's',
      queries: [
        ...client.percentilesOverTime('time_to_first_token_from_due', [0.99], 'from due'),
        ...client.percentilesOverTime('time_to_first_token', [0.99], 'from sent'),
      ],
    }),
    heatmap({
      id: 35,
      width: 24,
      height: 9,
      title: 'Time to first token, run $run',
      description: 'Requests per second in each bucket of the histogram of one run: what the percentiles are made of.',
      boundUnit: 's',
      unit: 'reqps',
      expr: client.bucketsOverTime('time_to_first_token'),
      repeat: 'run',
    }),
  ];
}
