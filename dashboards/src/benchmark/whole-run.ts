import { stat, type StatOptions } from '../panels/stat.ts';
import { stateMappings, type State } from '../panels/state-timeline.ts';
import type { Histograms } from '../native/histograms.ts';
import * as client from '../queries/client.ts';
import { TOKENS_PER_SECOND } from '../server/units.ts';
import { TILE } from './sizes.ts';
import { UNTIL_PUBLISHED, WHOLE_RUN } from '../wording.ts';

const OBJECTIVE_STATES: readonly State[] = [
  { value: 0, text: 'missed', color: 'red' },
  { value: 1, text: 'met', color: 'green' },
];
const NEWEST = 'Of several chosen runs: the one that began last; "Results of the runs" has all of them.';

/** The first line: the newest chosen run in numbers, also while it lasts. */
export function runTiles(histograms: Histograms) {
  const tiles: Omit<StatOptions, 'id' | 'width' | 'height'>[] = [
    {
      title: 'Progress',
      description: 'Share of the measure phase that is done, of the planned time or requests. Of a run under way only.',
      unit: 'percentunit',
      queries: [client.progress],
    },
    {
      title: 'Time left',
      description: 'Time left of the measure phase at the pace so far. Of a run under way only.',
      unit: 's',
      decimals: 0,
      queries: [client.timeLeft],
    },
    {
      title: 'Ok',
      description:
        'Requests of the measure phase that got a complete response. Warm-up and cool-down are not included.',
      unit: 'locale',
      queries: [client.requestsOk],
    },
    {
      title: 'Failed',
      description:
        'Requests of the measure phase that ended in an error or a timeout. They are not part of the latencies.',
      unit: 'locale',
      alarmFrom: 1,
      queries: [client.requestsFailed],
    },
    {
      title: 'Requests/s',
      description: `Ok requests ÷ time from the first request to the last response. ${UNTIL_PUBLISHED}`,
      unit: 'reqps',
      queries: client.requestThroughput,
    },
    {
      title: 'Output tok/s',
      description: `Output tokens as the server counted them ÷ time from the first request to the last response. ${UNTIL_PUBLISHED}`,
      unit: TOKENS_PER_SECOND.unit,
      queries: client.outputTokenThroughput,
    },
    {
      title: 'TTFT',
      description: `Time to first token: from sending a request to its first chunk with content. ${WHOLE_RUN[histograms]}`,
      unit: 's',
      queries: client.wholeRunPercentiles('time_to_first_token', histograms),
    },
    {
      title: 'ITL',
      description: `Inter-token latency, one value per request: (last − first content chunk) ÷ (output tokens − 1). ${WHOLE_RUN[histograms]}`,
      unit: 's',
      queries: client.wholeRunPercentiles('inter_token_latency', histograms),
    },
  ];
  return tiles.map((tile, index) => {
    const description = `${tile.description} ${NEWEST}`;
    return stat({ ...TILE, ...tile, description, id: 11 + index });
  });
}

/** Whether the newest chosen run kept its objectives. */
export function objectives(id: number) {
  return stat({
    id,
    width: 6,
    height: 6,
    title: 'Objectives of the run',
    description: `Whether the run met each of its objectives (--slo). –: no result is published, the run has no objective, or it has too few requests to decide. ${NEWEST}`,
    unit: 'none',
    mappings: stateMappings(OBJECTIVE_STATES),
    queries: [client.objectivesMet],
  });
}
