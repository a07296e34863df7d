import type { SeriesView } from '../../core/api/run-data.ts';
import { readServersFile } from '../store/read-servers.ts';
import { readServerSamples, seriesViews, wantedFamilies, type ServerSamples } from '../publish/views/server-view.ts';
import type { SeriesSummary } from '../../core/run/servers-file.ts';

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
export interface SignalLine extends Pick<SeriesView, 'target' | 'family' | 'values'> {
  /** Since the run's start. */
  readonly seconds: readonly number[];
}

export interface ServerSignal {
  readonly quantity: SignalQuantity;
  readonly lines: readonly SignalLine[];
}

/** The server metrics in a run directory. */
export interface ReportServers {
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
