import type { GaugeStatistics } from '../../../core/run/servers-file.ts';
import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import { summarize } from '../../../core/stats/summarize.ts';
import type { ScalarSeries } from './series.ts';
import type { TargetStore } from './target-store.ts';

/** A value is assumed to hold until the next sample, but not over a gap longer than this many intervals. */
const MAX_HELD_INTERVALS = 3;

/** Nanoseconds of the collection's clock. */
export interface TimeWindow {
  readonly start_ns: number;
  readonly end_ns: number;
}

export function gaugeStatistics(series: ScalarSeries, store: TargetStore, window: TimeWindow): GaugeStatistics {
  const { start_ns, end_ns } = window;
  const samples: number[] = [];
  /** The value that held when the window began: it is part of the mean. */
  let before: number | null = null;
  let weighted = 0;
  let weight = 0;
  let longest = 0;
  let lastSample_ns = start_ns;
  let held: { value: number; at_ns: number; interval_ns: number } | null = null;

  const hold = (until_ns: number, interval_ns: number): void => {
    if (held === null || until_ns - held.at_ns > MAX_HELD_INTERVALS * Math.max(held.interval_ns, interval_ns)) return;
    const length = Math.min(until_ns, end_ns) - Math.max(held.at_ns, start_ns);
    if (length <= 0) return;
    if (held.at_ns < start_ns) before = held.value;
    weighted += held.value * length;
    weight += length;
  };

  const first = Math.max(0, store.lastOkAt(start_ns));
  let change = series.changeAt(first);
  for (let scrape = first; scrape < store.scrapes && store.at_ns(scrape) <= end_ns; scrape++) {
    if (!store.isOk(scrape)) continue;
    while (change + 1 < series.changes && series.scrapeOf(change + 1) <= scrape) change += 1;
    const at_ns = store.at_ns(scrape);
    const interval_ns = store.interval_ns(scrape);
    hold(at_ns, interval_ns);
    held = null;
    if (change < 0 || series.isAbsent(change)) continue;
    held = { value: series.value(change), at_ns, interval_ns };
    if (at_ns < start_ns) continue;
    samples.push(held.value);
    longest = Math.max(longest, at_ns - lastSample_ns);
    lastSample_ns = at_ns;
  }
  if (held !== null) hold(end_ns, 0);
  longest = Math.max(longest, end_ns - lastSample_ns);

  const summary = summarize(Float64Array.from(samples));
  return {
    kind: 'gauge',
    mean: weight > 0 ? weighted / weight : null,
    min: extreme(Math.min, summary?.min, before),
    max: extreme(Math.max, summary?.max, before),
    std: summary?.std ?? null,
    n: samples.length,
    longest_gap_seconds: longest / 1e9,
    percentiles: Object.fromEntries(
      PERCENTILE_NAMES.map((name) => [name, summary?.percentiles[name] ?? null]),
    ) as GaugeStatistics['percentiles'],
  };
}

function extreme(pick: typeof Math.min, ofSamples: number | undefined, before: number | null): number | null {
  const values = [ofSamples, before].filter((value) => value !== null && value !== undefined);
  return values.length === 0 ? null : pick(...values);
}
