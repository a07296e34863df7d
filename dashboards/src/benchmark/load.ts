import { timeseries } from '../panels/timeseries.ts';
import * as client from '../queries/client.ts';
import { systemRates } from '../queries/system.ts';
import { TOKENS_PER_SECOND } from '../server/units.ts';
import { THIRD } from './sizes.ts';
import { SHORT_RUN } from '../wording.ts';

/** What the client asks of the server, and what comes back. */
export function loadOverTime() {
  return [
    timeseries({
      ...THIRD,
      id: 21,
      title: 'Requests by outcome',
      description: `Requests that ended per second, by outcome, in all phases. ${SHORT_RUN}`,
      unit: 'reqps',
      queries: [client.requestRates],
    }),
    timeseries({
      ...THIRD,
      id: 22,
      title: 'Output tokens',
      description:
        'Output tokens per second: counted by the client at the end of each request (from the usage that the server ' +
        'reports), and by each server, for all its clients. Steps of the client are requests that end together.',
      unit: TOKENS_PER_SECOND.unit,
      queries: [client.outputTokenRate, ...systemRates('output_tokens', 'output')],
    }),
    timeseries({
      ...THIRD,
      id: 23,
      title: 'Requests in flight',
      description: 'Requests that the client has sent and that have not ended.',
      unit: 'locale',
      axisLabel: 'requests',
      queries: [client.inFlight],
    }),
  ];
}

/** Requests that failed, by reason. */
export function errorsByReason() {
  return timeseries({
    ...THIRD,
    id: 24,
    title: 'Errors by reason',
    description:
      'Requests that failed per second, by reason, in all phases. If all reasons are at 0, no request failed.',
    unit: 'reqps',
    queries: [client.errorRates],
  });
}
