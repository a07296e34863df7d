import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { baseDashboard } from './base-dashboard.ts';
import { WHOLE_RUN } from './wording.ts';
import type { Histograms } from '../../prometheus/native-histograms.ts';
import * as client from './queries/client.ts';
import { SYSTEM_PRESENCE, systemKvCacheUsage, systemPercentiles, systemRates, systemSum } from './queries/system.ts';
import { closedRow, lines, number, row, type PanelSpec, type RowSpec, type Signal } from './server/panel-spec.ts';
import { TOKENS_PER_SECOND, type DisplayUnit } from './panels/display-units.ts';
import { addRow } from './server/server-dashboard.ts';
import type { Query } from './target.ts';
import {
  datasourceVariable,
  objectiveVariable,
  recordedVariables,
  runVariables,
  scrapeIntervalVariable,
  scrapesOfRuns,
} from './variables.ts';

const DEFINITIONS =
  'The lines of servers are one per system, definition and instance; compare only equal definitions. Estimated by ' +
  'histogram_quantile; the error has no guaranteed bound.';

function signal(query: Query, display: DisplayUnit): Signal {
  return { ...query, display, families: [] };
}

function seconds(queries: readonly Query[]): Signal[] {
  return queries.map((query) => signal(query, { unit: 's' }));
}

function recorded(measure: string, quantiles: readonly number[]): Signal[] {
  return seconds(systemPercentiles(measure, quantiles));
}

function rates(flow: string, name: string, display: DisplayUnit): Signal[] {
  return systemRates(flow, name).map((query) => signal(query, display));
}

function system(metric: string, name: string, display: DisplayUnit): Signal {
  return signal(systemSum(metric, name), display);
}

const REQUESTS = { unit: 'reqps' };
const COUNT = { unit: 'locale', axis: 'requests' };

function exact(
  title: string,
  about: string,
  histogram: 'time_to_first_token' | 'inter_token_latency',
  histograms: Histograms,
): PanelSpec {
  const queries = client.wholeRunPercentiles(histogram, histograms);
  return number(title, `${about} ${WHOLE_RUN[histograms]}`, [seconds(queries)]);
}

function overview(histograms: Histograms): RowSpec {
  return row(1, 'Agreement of client and server', [
    exact('Client TTFT', 'Time to first token as the client measured it.', 'time_to_first_token', histograms),
    exact('Client ITL', 'Inter-token latency, one mean per request.', 'inter_token_latency', histograms),
    number(
      'TTFT objective kept',
      'Share of the first tokens that arrived within the objective: between the shares at the bucket bounds below and above it, which are the same if the objective is a bound.',
      client.objectiveKept.map((query) => signal(query, { unit: 'percentunit' })),
    ),
    number(
      'Client saturated',
      'Yes: the client was short of CPU at some time, so its latencies include its own delay and say little about the server.',
      [signal(client.saturated, { unit: 'bool_yes_no' })],
    ),
    lines(
      'Requests',
      'Requests finished per second, as counted by the client, and by each server for all its clients. If a server counts more than the client, it has other traffic.',
      [signal(client.requestRates, REQUESTS), rates('requests', 'finished', REQUESTS)],
    ),
    lines(
      'Requests under way',
      'In flight at the client; running and waiting at the server. The difference is in the network, in a gateway, or in the queue of the client.',
      [
        signal(client.inFlight, COUNT),
        system('requests_running:sum', 'running', COUNT),
        system('requests_waiting:sum', 'waiting', COUNT),
      ],
    ),
    lines('Output tokens', 'Counted by the client from the usage of finished requests, and by the servers.', [
      signal(client.outputTokenRate, TOKENS_PER_SECOND),
      rates('output_tokens', 'output', TOKENS_PER_SECOND),
    ]),
  ]);
}

function latency(): RowSpec {
  const both = (measure: 'time_to_first_token' | 'inter_token_latency' | 'request_latency', quantiles: number[]) => [
    ...seconds(client.percentilesOverTime(measure, quantiles, 'client')),
    ...recorded(measure, quantiles),
  ];
  return row(2, 'Latency: client and server', [
    lines(
      'Time to first token',
      `The client measures from sending the request, the server from its arrival. If the client is far above the server, the time is spent in the network, in a gateway, or in a client short of CPU. ${DEFINITIONS}`,
      both('time_to_first_token', [0.5, 0.99]),
      { objective: 'ttft_slo', wide: true },
    ),
    lines(
      'Inter-token latency, per request',
      `One mean per request on both sides. Families with one value per token are not shown. ${DEFINITIONS}`,
      both('inter_token_latency', [0.5, 0.99]),
      { wide: true },
    ),
    lines(
      'Request latency',
      `From sending, or arrival, to the last token. ${DEFINITIONS}`,
      both('request_latency', [0.5, 0.99]),
      { wide: true },
    ),
    lines(
      'Gaps between chunks, steps and tokens',
      `One value per gap; the definition states between what. A chunk may carry several tokens: compare only equal definitions. Not in every version: a release with a former name of a family is read by that. ${DEFINITIONS}`,
      [
        ...seconds(client.percentilesOverTime('inter_chunk_latency', [0.99], 'client')),
        ...recorded('inter_chunk_latency', [0.99]),
      ],
      { wide: true },
    ),
    lines(
      'Waiting in the client',
      'Time from when a request was due until it was sent. Above 0, the client had no free slot; the latencies of a closed loop do not show this.',
      [seconds(client.percentilesOverTime('schedule_delay', [0.5, 0.99], 'client'))],
    ),
    lines(
      'Event loop of the client',
      'How late the timers of the client fire, which is the error of its times. Compare it with the latencies above.',
      [seconds([client.eventLoopDelay])],
    ),
  ]);
}

function servers(): RowSpec {
  return closedRow(3, 'Server load', [
    lines(
      'KV cache usage',
      'In the fullest engine of each instance. Near 100 %, requests wait or are preempted.',
      [signal(systemKvCacheUsage, { unit: 'percentunit' })],
      { max: 1 },
    ),
    lines(
      'Preemptions',
      'Requests moved back to the queue per second because memory ran short; their work is done again.',
      [rates('preemptions', 'preempted', REQUESTS)],
    ),
    lines(
      'Errors',
      'Failed requests as counted by the servers and by the client. SGLang and TensorRT-LLM have no such counter.',
      [signal(client.errorRates, REQUESTS), rates('request_errors', 'failed', REQUESTS)],
    ),
    lines('Prompt tokens', 'As counted by the servers, cached tokens included.', [
      rates('prompt_tokens', 'prompt', TOKENS_PER_SECOND),
    ]),
  ]);
}

/** "Client and server": the same quantities as both sides see them, for every system that has recording rules. */
export function clientVsServer(histograms: Histograms = 'classic'): Dashboard {
  const dashboard = baseDashboard({
    uid: 'llmbench-client-vs-server',
    title: 'LLM client and server',
    description:
      "Client measurements next to the servers' metrics of the same quantity, with one vocabulary for all systems",
  }).variables([
    datasourceVariable(),
    ...runVariables(),
    ...recordedVariables(SYSTEM_PRESENCE),
    objectiveVariable(
      {
        name: 'ttft_slo',
        label: 'TTFT objective',
        histogram: 'llmbench_time_to_first_token_seconds',
        measure: 'time_to_first_token',
      },
      histograms,
    ),
    scrapeIntervalVariable(...scrapesOfRuns()),
  ]);
  for (const each of [overview(histograms), latency(), servers()]) addRow(dashboard, each);
  return dashboard.build();
}
