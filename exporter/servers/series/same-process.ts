import { START_TOLERANCE_SECONDS } from '../../../core/series/sighting.ts';
import { PROCESS_START, isUptime, seriesKey } from './page-series.ts';
import { HistogramSeries, isCumulative, ScalarSeries, type Series } from './series.ts';
import type { TargetStore } from './target-store.ts';

/** Series that another target also exposes, with the index of that target. */
export type RepeatedSeries = ReadonlyMap<Series, number>;

/**
 * At least this many increased numbers must agree, or one that is not an integer: two replicas may have served equally
 * much.
 */
const ENOUGH_NUMBERS = 5;

/**
 * Finds series that two targets both expose because one passes through the other's page, or because both are one
 * process: for each later target, the series whose family, labels and last values equal those of an earlier one. All
 * cumulative series that they share must agree, and so must everything that distinguishes processes. Only increases
 * during the collection are evidence of one process: idle replicas look alike, and nothing is counted twice for them.
 */
export function repeatedSeries(stores: readonly TargetStore[]): RepeatedSeries {
  const repeated = new Map<Series, number>();
  const pages = stores.map((store) => mergedPages(store));
  for (const [index, later] of pages.entries()) {
    for (const [target, earlier] of pages.slice(0, index).entries()) {
      for (const series of earlier.flatMap((one) => later.flatMap((other) => shared(one, other)))) {
        if (!repeated.has(series)) repeated.set(series, target);
      }
    }
  }
  return repeated;
}

/** What a target exposes of one process, or all of it. */
interface KeyedTarget {
  readonly store: TargetStore;
  readonly byKey: ReadonlyMap<string, Series>;
}

/** The label with the worker of each series, where SGLang's gateway merges the pages of workers (`/engine_metrics`). */
const MERGED_BY = 'worker_addr';

/** The pages that a target has merged into its own; of most targets, one. The keys are without the merging label. */
function mergedPages(store: TargetStore): readonly KeyedTarget[] {
  const pages = new Map<string, Map<string, Series>>();
  for (const series of store.series) {
    const { [MERGED_BY]: worker = '', ...labels } = series.labels;
    const byKey = pages.get(worker) ?? new Map<string, Series>();
    byKey.set(seriesKey(series.family.name, withoutColons(labels)), series);
    pages.set(worker, byKey);
  }
  return Array.from(pages.values(), (byKey) => ({ store, byKey }));
}

/** The gateway writes underscores for all colons of a worker's page. */
function withoutColons(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (!Object.values(labels).some((value) => value.includes(':'))) return labels;
  return Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, value.replaceAll(':', '_')]));
}

/** The series that the later target shares with the earlier one; empty when there is evidence of two processes. */
function shared(earlier: KeyedTarget, later: KeyedTarget): Series[] {
  const starts = differingStarts(earlier.store, later.store);
  // A gateway that passes through an engine's families has its own start time.
  const twoProcesses = starts.length > 0;
  if (starts.some((key) => !isProcessStart(key))) return [];
  const common: Series[] = [];
  let numbers = 0;
  let fractions = 0;
  for (const [key, series] of later.byKey) {
    const other = earlier.byKey.get(key);
    if (other === undefined || isOfPage(series)) continue;
    if (
      isUptime(series.family.name)
        ? startsDiffer(earlier.store, other, later.store, series)
        : restsElsewhere(earlier, other, later, series)
    )
      return [];
    if (isCumulative(series)) {
      const [a, b] = [isCumulative(other) ? lastNumbers(other) : [], lastNumbers(series)];
      const isEqual = a.length === b.length && a.every((value, i) => value === b[i]);
      if (!isEqual && !countsTime(series)) return [];
      const grown = isEqual ? grownNumbers(series, b) : [];
      numbers += grown.length;
      fractions += grown.filter((value) => !Number.isInteger(value)).length;
    }
    common.push(series);
  }
  return fractions > 0 || (numbers >= ENOUGH_NUMBERS && !twoProcesses) ? common : [];
}

/** Start times that both have and that differ. */
function differingStarts(earlier: TargetStore, later: TargetStore): string[] {
  const others = earlier.startTimes;
  return Array.from(later.startTimes)
    .filter(([key, seconds]) => Math.abs(seconds - (others.get(key) ?? seconds)) > START_TOLERANCE_SECONDS)
    .map(([key]) => key);
}

const isProcessStart = (key: string): boolean => key.startsWith(PROCESS_START);

/** Uptimes that imply different starts. They are read at different moments, so they also differ within one process. */
function startsDiffer(earlier: TargetStore, other: Series, later: TargetStore, series: Series): boolean {
  const [a, b] = [startOf(earlier, other), startOf(later, series)];
  return a !== null && b !== null && Math.abs(a - b) > START_TOLERANCE_SECONDS;
}

/** Seconds of the collection's clock. */
function startOf(store: TargetStore, series: Series): number | null {
  const change = lastChange(series);
  if (!(series instanceof ScalarSeries) || change < 0) return null;
  return store.at_ns(series.scrapeOf(change)) / 1e9 - series.value(change);
}

/**
 * A gauge that is constant on both pages, with different values. A changing gauge may have been read before and after
 * the change.
 */
function restsElsewhere(earlier: KeyedTarget, other: Series, later: KeyedTarget, series: Series): boolean {
  if (series.family.type !== 'gauge' || !(series instanceof ScalarSeries) || !(other instanceof ScalarSeries))
    return false;
  if (!rests(earlier.store, other) || !rests(later.store, series)) return false;
  return other.value(other.changes - 1) !== series.value(series.changes - 1);
}

/** Whether the last two good scrapes had the same value. */
function rests(store: TargetStore, series: Series): boolean {
  const last = store.lastOkAt(Infinity);
  const before = last < 0 ? -1 : store.lastOkAt(store.at_ns(last) - 1);
  return before >= 0 && series.hasValueAt(last) && series.scrapeOf(series.changes - 1) <= before;
}

/** A counter of seconds may grow between the reads of two targets, as the idle time of a scheduler does. */
function countsTime({ family: { name } }: Series): boolean {
  return name.endsWith('_seconds_total');
}

/** Families of the client library itself, which every page has separately. */
export function isOfPage({ family: { name } }: Series): boolean {
  return /^(process|python|go|promhttp|scrape|http)_/.test(name);
}

/** The last numbers that differ from those of the first read of the target. */
function grownNumbers(series: HistogramSeries | ScalarSeries, last: readonly number[]): number[] {
  const first = series.startsAtZero ? [] : numbersAt(series, 0);
  return last.filter((value, i) => value > 0 && value !== (first[i] ?? 0));
}

function lastNumbers(series: HistogramSeries | ScalarSeries): number[] {
  return numbersAt(series, lastChange(series));
}

/** The last change that is not an absence; −1: none. */
function lastChange(series: Series): number {
  let change = series.changes - 1;
  while (change >= 0 && series.isAbsent(change)) change -= 1;
  return change;
}

function numbersAt(series: HistogramSeries | ScalarSeries, change: number): number[] {
  if (change < 0 || change >= series.changes) return [];
  if (!(series instanceof HistogramSeries)) return [series.value(change)];
  return [...series.bounds.map((_, bucket) => series.count(change, bucket)), series.sum(change), series.total(change)];
}
