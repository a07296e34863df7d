import { stageLoadText } from '../../core/run/load.ts';
import type { PhaseName } from '../../core/run/record.ts';
import { distributionOf, scalarOf, type ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import type { RequestView } from './request-view.ts';
import type { SeriesView } from '../../core/api/run-data.ts';
import { readServersFile } from '../store/read-servers.ts';
import { readServerSamples, seriesViews, wantedFamilies, type ServerSamples } from '../publish/views/server-view.ts';
import type { SeriesSummary } from '../../core/run/servers-file.ts';

/** The data of a report. */
export interface ReportData {
  readonly run: RunFile;
  readonly result: ResultFile;
  /** Null if no record could be read; the notes have the reason. */
  readonly requests: RequestView | null;
  /** Null if no server metrics were collected. */
  readonly servers: ReportServers | null;
  /** What could not be read, one line each. */
  readonly notes: readonly string[];
}

const STREAMED = ['time_to_first_token', 'inter_token_latency', 'request_latency'] as const;
export type ReportLatency = (typeof STREAMED)[number];

/** The latencies that a result has; responses that were not streamed have only the last one. */
export function latenciesOf(result: Pick<ResultFile, 'measures'>): readonly ReportLatency[] {
  const isWhole =
    distributionOf(result.measures, 'time_to_first_token')?.n === 0 &&
    (distributionOf(result.measures, 'request_latency')?.n ?? 0) > 0;
  return isWhole ? ['request_latency'] : STREAMED;
}

/** Why charts of tokens are missing; null where they are not. */
export function withoutStreamText(result: Pick<ResultFile, 'measures'>): string | null {
  if (latenciesOf(result) === STREAMED) return null;
  const why =
    (scalarOf(result.measures, 'document_throughput')?.value ?? null) === null
      ? 'The responses were not streamed'
      : 'The endpoint reads documents and generates no tokens';
  return `${why}: there is no time to first token and no inter-token latency.`;
}

/** The phases in seconds since the run's start; without phases of unknown start or end. */
export function phaseSpans({ start, phases }: RunFile): { phase: PhaseName; from: number; to: number }[] {
  if (start === null) return [];
  const zero = Date.parse(start);
  return phases.flatMap(({ phase, start: from, end: to }) =>
    from === null || to === null
      ? []
      : [{ phase, from: (Date.parse(from) - zero) / 1000, to: (Date.parse(to) - zero) / 1000 }],
  );
}

/** The stages of the load in seconds since the run's start; without those that had not begun. */
export function stageSpans(
  { start }: RunFile,
  { stages }: ResultFile,
): { stage: number; text: string; from: number; to: number }[] {
  if (start === null) return [];
  const zero = Date.parse(start);
  return stages.flatMap(({ stage, load, start: from, end: to }) =>
    from === null || to === null
      ? []
      : [
          {
            ...{ stage, text: stageLoadText(load) },
            ...{ from: (Date.parse(from) - zero) / 1000, to: (Date.parse(to) - zero) / 1000 },
          },
        ],
  );
}

/** How the series of a target are combined to one line. */
const SIGNALS = {
  requests_running: 'sum',
  requests_in_flight: 'sum',
  requests_waiting: 'sum',
  kv_cache_usage: 'max',
  generation_tokens_total: 'sum',
} as const satisfies Record<string, 'sum' | 'max'>;

export type SignalQuantity = keyof typeof SIGNALS;

const SIGNAL_QUANTITIES = Object.keys(SIGNALS) as SignalQuantity[];

/** More points of a line cannot be distinguished. */
const MAX_POINTS = 150;

/** One signal of one target: a gauge, or the increase of a counter per second. */
interface SignalLine extends Pick<SeriesView, 'target' | 'family' | 'values'> {
  /** Since the run's start. */
  readonly seconds: readonly number[];
}

export interface ServerSignal {
  readonly quantity: SignalQuantity;
  readonly lines: readonly SignalLine[];
}

/** The server metrics in a run directory. */
interface ReportServers {
  readonly signals: readonly ServerSignal[];
  readonly series: readonly SeriesSummary[];
}

/** Null if no server metrics were collected. `start` is the wall time of the run's zero. Throws if a file is damaged. */
export async function readReportServers(folder: string, start: string | null): Promise<ReportServers | null> {
  const file = start === null ? null : await readServersFile(folder);
  if (file === null) return null;
  const samples = await readServerSamples(folder, start, wantedFamilies(queryOf(...SIGNAL_QUANTITIES)));
  if (samples === null) return { signals: [], series: file.series };
  const keyOf = (target: string, family: string, labels: SeriesSummary['labels']): string =>
    JSON.stringify([target, family, labels]);
  const repeated = new Set(
    file.series.flatMap(({ target, family, labels, repeats }) =>
      repeats === null ? [] : keyOf(target, family, labels),
    ),
  );
  const own = samples.series.filter(({ target, name, labels }) => !repeated.has(keyOf(target, name, labels)));
  return { signals: serverSignals({ ...samples, series: own }), series: file.series };
}

const queryOf = (...quantity: readonly SignalQuantity[]) => ({ quantity, family: [], target: [] });

/** The signals of the servers, each of a target as a whole. Means of histograms are none. */
export function serverSignals(samples: ServerSamples): ServerSignal[] {
  return SIGNAL_QUANTITIES.flatMap((quantity) => {
    const views = seriesViews(samples, queryOf(quantity), MAX_POINTS).filter((view) => view.as !== 'mean');
    const groups = Map.groupBy(views, ({ target, family }) => `${target} ${family}`);
    const lines = [...groups.values()].flatMap((series) => combined(series, SIGNALS[quantity]) ?? []);
    return lines.length === 0 ? [] : [{ quantity, lines }];
  });
}

/** Series of one target have the moments of its scrapes. */
function combined([first, ...others]: readonly SeriesView[], kind: 'sum' | 'max'): SignalLine | null {
  if (first === undefined) return null;
  const { target, family, seconds } = first;
  const values = first.values.map((value, i) => {
    const known = [value, ...others.map((other) => other.values[i] ?? null)].filter((each) => each !== null);
    if (known.length === 0) return null;
    return kind === 'max' ? Math.max(...known) : known.reduce((sum, each) => sum + each, 0);
  });
  return { target, family, seconds, values };
}
