import { PROCESS_START, seriesKey } from './page-series.ts';
import { HistogramSeries, isCumulative, ScalarSeries, type Series } from './series.ts';
import { TOLERANCE_SECONDS } from './start-times.ts';
import type { TargetStore } from './target-store.ts';

/** Series that another target shows too, with the index of that target. */
export type RepeatedSeries = ReadonlyMap<Series, number>;

/** So many numbers that grew must agree, or one that is no whole number: two replicas may well have served as much each. */
const ENOUGH_NUMBERS = 5;

/**
 * Finds what two targets both show because one passes the other's page through, or because both are one process: for each
 * later target the series whose family, labels and last values are those of an earlier one. All cumulative series that
 * they share must agree, and all that tells processes apart; only what grew while it was collected speaks for one
 * process: replicas that are idle look alike, and nothing is counted twice by them.
 */
export function repeatedSeries(stores: readonly TargetStore[]): RepeatedSeries {
  const repeated = new Map<Series, number>();
  const pages = stores.map((store) => ({
    store,
    byKey: new Map(store.series.map((series) => [seriesKey(series.family.name, series.labels), series])),
  }));
  for (const [index, later] of pages.entries()) {
    for (const [target, earlier] of pages.slice(0, index).entries()) {
      for (const series of shared(earlier, later)) {
        if (!repeated.has(series)) repeated.set(series, target);
      }
    }
  }
  return repeated;
}

interface Page {
  readonly store: TargetStore;
  readonly byKey: ReadonlyMap<string, Series>;
}

/** The later target's series that it shares with the earlier one; none when anything says that they are two. */
function shared(earlier: Page, later: Page): Series[] {
  const starts = differingStarts(earlier.store, later.store);
  // A gateway that passes an engine's families through has a start of its own.
  const twoProcesses = starts.length > 0;
  if (starts.some((key) => !isProcessStart(key))) return [];
  const common: Series[] = [];
  let numbers = 0;
  let fractions = 0;
  for (const [key, series] of later.byKey) {
    const other = earlier.byKey.get(key);
    if (other === undefined || isOfPage(series)) continue;
    if (
      isUptime(series)
        ? startsDiffer(earlier.store, other, later.store, series)
        : restsElsewhere(earlier, other, later, series)
    )
      return [];
    if (isCumulative(series)) {
      const [a, b] = [isCumulative(other) ? lastNumbers(other) : [], lastNumbers(series)];
      if (a.length !== b.length || a.some((value, i) => value !== b[i])) return [];
      const grown = grownNumbers(series, b);
      numbers += grown.length;
      fractions += grown.filter((value) => !Number.isInteger(value)).length;
    }
    common.push(series);
  }
  return fractions > 0 || (numbers >= ENOUGH_NUMBERS && !twoProcesses) ? common : [];
}

/** Start times that both have, and not the same. */
function differingStarts(earlier: TargetStore, later: TargetStore): string[] {
  const others = earlier.startTimes;
  return Array.from(later.startTimes)
    .filter(([key, seconds]) => Math.abs(seconds - (others.get(key) ?? seconds)) > TOLERANCE_SECONDS)
    .map(([key]) => key);
}

const isProcessStart = (key: string): boolean => key.startsWith(PROCESS_START);

const isUptime = ({ family: { name } }: Series): boolean => /uptime(_seconds)?$/.test(name);

/** Uptimes that tell of different starts. They are read at different moments, so that they differ in one process too. */
function startsDiffer(earlier: TargetStore, other: Series, later: TargetStore, series: Series): boolean {
  const [a, b] = [startOf(earlier, other), startOf(later, series)];
  return a !== null && b !== null && Math.abs(a - b) > TOLERANCE_SECONDS;
}

/** Seconds of the collection's clock. */
function startOf(store: TargetStore, series: Series): number | null {
  const change = lastChange(series);
  if (!(series instanceof ScalarSeries) || change < 0) return null;
  return store.at_ns(series.scrapeOf(change)) / 1e9 - series.value(change);
}

/** A gauge that rests on both pages, at two values. One that moves may have been read before and after it moved. */
function restsElsewhere(earlier: Page, other: Series, later: Page, series: Series): boolean {
  if (series.family.type !== 'gauge' || !(series instanceof ScalarSeries) || !(other instanceof ScalarSeries))
    return false;
  if (!rests(earlier.store, other) || !rests(later.store, series)) return false;
  return other.value(other.changes - 1) !== series.value(series.changes - 1);
}

/** Whether the last two good scrapes showed the same value. */
function rests(store: TargetStore, series: Series): boolean {
  const last = store.lastOkAt(Infinity);
  const before = last < 0 ? -1 : store.lastOkAt(store.at_ns(last) - 1);
  return before >= 0 && series.hasValueAt(last) && series.scrapeOf(series.changes - 1) <= before;
}

/** What the client library says of itself is on each page of its own. */
function isOfPage({ family: { name } }: Series): boolean {
  return /^(process|python|go|promhttp|scrape|http)_/.test(name);
}

/** Those of the last numbers that are not what they were when the target was first read. */
function grownNumbers(series: HistogramSeries | ScalarSeries, last: readonly number[]): number[] {
  const first = series.bornOnKnownTarget ? [] : numbersAt(series, 0);
  return last.filter((value, i) => value > 0 && value !== (first[i] ?? 0));
}

function lastNumbers(series: HistogramSeries | ScalarSeries): number[] {
  return numbersAt(series, lastChange(series));
}

/** The last change that is no absence; −1: there is none. */
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
