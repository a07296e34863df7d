import { RowBuilder, type DashboardBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { timeseries } from '../panels/timeseries.ts';
import * as client from '../queries/client.ts';
import { systemRates } from '../queries/system.ts';
import { TOKENS_PER_SECOND } from '../server/units.ts';
import { HALF } from './sizes.ts';
import { SHORT_RUN } from '../wording.ts';

/** What the client asked of the server, and what came back. */
export function withLoad(dashboard: DashboardBuilder): void {
  dashboard
    .withRow(new RowBuilder('Load and throughput').id(2))
    .withPanel(
      timeseries({
        ...HALF,
        id: 21,
        title: 'Requests by outcome',
        description: `Requests that ended per second, by outcome, in all phases. ${SHORT_RUN}`,
        unit: 'reqps',
        queries: [client.requestRates],
      }),
    )
    .withPanel(
      timeseries({
        ...HALF,
        id: 22,
        title: 'Output tokens',
        description:
          'Output tokens per second: counted by the client at the end of each request (from the usage that the server ' +
          'reports), and by each server, for all its clients. Steps of the client are requests that end together.',
        unit: TOKENS_PER_SECOND.unit,
        queries: [client.outputTokenRate, ...systemRates('output_tokens', 'output')],
      }),
    )
    .withPanel(
      timeseries({
        ...HALF,
        id: 23,
        title: 'Requests in flight',
        description: 'Requests that the client has sent and that have not ended.',
        unit: 'locale',
        axisLabel: 'requests',
        queries: [client.inFlight],
      }),
    )
    .withPanel(
      timeseries({
        ...HALF,
        id: 24,
        title: 'Errors by reason',
        description:
          'Requests that failed per second, by reason, in all phases. If all reasons are at 0, no request failed.',
        unit: 'reqps',
        queries: [client.errorRates],
      }),
    );
}
