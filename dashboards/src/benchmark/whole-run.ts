import { RowBuilder, type DashboardBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { stat } from '../panels/stat.ts';
import { stateMappings, type State } from '../panels/state-timeline.ts';
import type { Histograms } from '../native/histograms.ts';
import * as client from '../queries/client.ts';
import { TOKENS_PER_SECOND } from '../server/units.ts';
import { STAT } from './sizes.ts';
import { UNTIL_PUBLISHED, WHOLE_RUN } from '../wording.ts';

const OBJECTIVE_STATES: readonly State[] = [
  { value: 0, text: 'missed', color: 'red' },
  { value: 1, text: 'met', color: 'green' },
];

/** The top row: the chosen runs in numbers. */
export function withWholeRun(dashboard: DashboardBuilder, histograms: Histograms): void {
  dashboard
    .withRow(new RowBuilder('Results of the run').id(1))
    .withPanel(
      stat({
        ...STAT,
        id: 11,
        width: 5,
        title: 'Requests ok',
        description:
          'Requests of the measure phase that got a complete response. Warm-up and cool-down are not included.',
        unit: 'locale',
        queries: [client.requestsOk],
      }),
    )
    .withPanel(
      stat({
        ...STAT,
        id: 12,
        width: 5,
        title: 'Requests failed',
        description:
          'Requests of the measure phase that ended in an error or a timeout. They are not part of the latencies.',
        unit: 'locale',
        queries: [client.requestsFailed],
      }),
    )
    .withPanel(
      stat({
        ...STAT,
        id: 13,
        width: 7,
        title: 'Time to first token',
        description: `From sending a request to its first chunk with content. ${WHOLE_RUN[histograms]}`,
        unit: 's',
        queries: client.wholeRunPercentiles('time_to_first_token', [0.5, 0.99], histograms),
      }),
    )
    .withPanel(
      stat({
        ...STAT,
        id: 14,
        width: 7,
        title: 'Inter-token latency',
        description: `One value per request: (last − first content chunk) ÷ (output tokens − 1). ${WHOLE_RUN[histograms]}`,
        unit: 's',
        queries: client.wholeRunPercentiles('inter_token_latency', [0.5, 0.99], histograms),
      }),
    )
    .withPanel(
      stat({
        ...STAT,
        id: 15,
        width: 6,
        title: 'Request throughput',
        description: `Ok requests ÷ time from the first request to the last response. ${UNTIL_PUBLISHED}`,
        unit: 'reqps',
        queries: client.requestThroughput,
      }),
    )
    .withPanel(
      stat({
        ...STAT,
        id: 16,
        width: 6,
        title: 'Output throughput',
        description: `Output tokens as the server counted them ÷ time from the first request to the last response. ${UNTIL_PUBLISHED}`,
        unit: TOKENS_PER_SECOND.unit,
        queries: client.outputTokenThroughput,
      }),
    )
    .withPanel(
      stat({
        ...STAT,
        id: 17,
        width: 6,
        title: 'Peak in flight',
        description: 'The largest number of requests in flight at any scrape, warm-up and cool-down included.',
        unit: 'locale',
        queries: [client.inFlightPeak],
      }),
    )
    .withPanel(
      stat({
        ...STAT,
        id: 18,
        width: 6,
        title: 'Objectives of the run',
        description:
          'Whether the run met each of its objectives (--slo). –: no result is published, the run has no objective, or it has too few requests to decide.',
        unit: 'none',
        mappings: stateMappings(OBJECTIVE_STATES),
        queries: [client.objectivesMet],
      }),
    );
}
