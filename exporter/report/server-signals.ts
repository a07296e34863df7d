import { quantities } from '../../catalog/equivalents.ts';
import { binEnd, binSeconds, timeBins } from './time-bins.ts';
import type { TimeBins } from './time-bins.ts';

/** A value of a server metric; it is valid until the next one of its series. */
export interface ServerSample {
  readonly target: string;
  readonly name: string;
  /** JSON object. */
  readonly labels: string;
  /** Since the run's start. */
  readonly at_seconds: number;
  readonly value: number | null;
}

/** One signal of one target, over the bins. */
export interface SignalLine {
  readonly target: string;
  readonly family: string;
  readonly values: readonly (number | null)[];
}

export interface ServerSignal {
  readonly quantity: SignalQuantity;
  readonly bins: TimeBins;
  readonly lines: readonly SignalLine[];
}

/** How the label sets of a target are combined, and what is drawn. */
const SIGNALS = {
  requests_running: 'sum',
  requests_in_flight: 'sum',
  requests_waiting: 'sum',
  kv_cache_usage: 'max',
  generation_tokens_total: 'rate',
} as const satisfies Record<string, 'sum' | 'max' | 'rate'>;

export type SignalQuantity = keyof typeof SIGNALS;

const SIGNAL_QUANTITIES = Object.keys(SIGNALS) as SignalQuantity[];

/** The names of the metrics behind the signals. */
export function signalNames(): ReadonlySet<string> {
  return new Set(SIGNAL_QUANTITIES.flatMap((quantity) => familiesOf(quantity).map(({ family }) => family)));
}

/**
 * The signals of the servers on the run's time axis. A counter is drawn as its rate, over bins of at least two scrape
 * intervals, because a scrape falls into one bin or the next by chance.
 */
export function serverSignals(
  samples: Iterable<ServerSample>,
  bins: TimeBins,
  intervalSeconds: number,
): ServerSignal[] {
  const series = seriesOf(samples);
  return SIGNAL_QUANTITIES.flatMap((quantity) => {
    const kind = SIGNALS[quantity];
    const own = kind === 'rate' ? timeBins(bins.spanSeconds, 2 * intervalSeconds) : bins;
    const lines = familiesOf(quantity).flatMap(({ family, labels }) =>
      byTarget(series.filter((each) => each.name === family && carries(each.labels, labels))).map(
        ([target, group]) => ({
          target,
          family,
          values: kind === 'rate' ? rates(group, own) : levels(group, own, kind),
        }),
      ),
    );
    return lines.length === 0 ? [] : [{ quantity, bins: own, lines }];
  });
}

interface FamilyOfQuantity {
  readonly family: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly only?: string;
}

/** Sums of histograms are not separate counters. */
function familiesOf(quantity: SignalQuantity): readonly FamilyOfQuantity[] {
  const families = quantities().find((each) => each.quantity === quantity)?.families ?? [];
  return families.filter(({ only }) => only === undefined);
}

interface SignalSeries {
  readonly target: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, unknown>>;
  readonly samples: { readonly at: number; readonly value: number | null }[];
}

function seriesOf(samples: Iterable<ServerSample>): SignalSeries[] {
  const all = new Map<string, SignalSeries>();
  for (const { target, name, labels, at_seconds: at, value } of samples) {
    const key = JSON.stringify([target, name, labels]);
    let series = all.get(key);
    if (series === undefined) {
      series = { target, name, labels: JSON.parse(labels) as Record<string, unknown>, samples: [] };
      all.set(key, series);
    }
    series.samples.push({ at, value });
  }
  for (const { samples: own } of all.values()) own.sort((a, b) => a.at - b.at);
  return [...all.values()];
}

function carries(labels: Readonly<Record<string, unknown>>, wanted: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

function byTarget(series: readonly SignalSeries[]): [target: string, series: SignalSeries[]][] {
  const groups = new Map<string, SignalSeries[]>();
  for (const each of series) groups.set(each.target, [...(groups.get(each.target) ?? []), each]);
  return [...groups];
}

/** The mean over each bin of the sum, or of the largest, of the series. */
function levels(series: readonly SignalSeries[], bins: TimeBins, kind: 'sum' | 'max'): (number | null)[] {
  const means = series.map((each) => binMeans(each, bins));
  return Array.from({ length: bins.count }, (_, bin) => {
    const known = means.flatMap((values) => values[bin] ?? []);
    if (known.length === 0) return null;
    return kind === 'max' ? Math.max(...known) : known.reduce((sum, value) => sum + value, 0);
  });
}

/** The mean of a series over the part of each bin in which it had a value. */
function binMeans({ samples }: SignalSeries, bins: TimeBins): (number | null)[] {
  const sums = new Array<number>(bins.count).fill(0);
  const times = new Array<number>(bins.count).fill(0);
  samples.forEach(({ at, value }, i) => {
    const until = samples[i + 1]?.at ?? at;
    if (value === null) return;
    const first = Math.max(0, Math.floor(at / bins.widthSeconds));
    for (let bin = first; bin < bins.count && bin * bins.widthSeconds < until; bin++) {
      const from = Math.max(at, bin * bins.widthSeconds);
      const time = Math.max(0, Math.min(until, binEnd(bins, bin)) - from);
      sums[bin] = (sums[bin] ?? 0) + value * time;
      times[bin] = (times[bin] ?? 0) + time;
    }
  });
  return sums.map((sum, bin) => ((times[bin] ?? 0) > 0 ? sum / (times[bin] ?? NaN) : null));
}

/** Increase per second of the sum of the counters over each bin. */
function rates(series: readonly SignalSeries[], bins: TimeBins): (number | null)[] {
  return Array.from({ length: bins.count }, (_, bin) => {
    const from = bin * bins.widthSeconds;
    const seconds = binSeconds(bins, bin);
    const gains = series.flatMap((each) => gain(each, from, from + seconds) ?? []);
    return gains.length === 0 || seconds <= 0 ? null : gains.reduce((sum, value) => sum + value, 0) / seconds;
  });
}

/** Increase of a counter between two instants, resets counted from 0; null if it has no value at either. */
function gain({ samples }: SignalSeries, from: number, to: number): number | null {
  const start = samples.findLastIndex(({ at }) => at <= from);
  const end = samples.findLastIndex(({ at }) => at <= to);
  const lastAt = samples.at(-1)?.at ?? -Infinity;
  if (start < 0 || end < 0 || from >= lastAt) return null;
  let sum = 0;
  for (let i = start + 1; i <= end; i++) {
    const [before, now] = [samples[i - 1]?.value ?? null, samples[i]?.value ?? null];
    if (before !== null && now !== null) sum += now >= before ? now - before : now;
  }
  return sum;
}
