import { seriesKey } from './page-series.ts';
import { HistogramSeries, isCumulative, type ScalarSeries, type Series } from './series.ts';
import type { TargetStore } from './target-store.ts';

/** Series that another target shows too, with the index of that target. */
export type RepeatedSeries = ReadonlyMap<Series, number>;

/** So many numbers above 0 must agree, or one that is no whole number: two replicas may well have served as much each. */
const ENOUGH_NUMBERS = 5;

/**
 * Finds what two targets both show because one passes the other's page through, or because both are one process: for each
 * later target the series whose family, labels and values are those of an earlier one, at the first and at the last
 * scrape. All cumulative series that they share must agree, so that replicas are not taken for one.
 */
export function repeatedSeries(stores: readonly TargetStore[]): RepeatedSeries {
  const repeated = new Map<Series, number>();
  const byKey = stores.map(
    (store) => new Map(store.series.map((series) => [seriesKey(series.family.name, series.labels), series])),
  );
  for (let later = 1; later < stores.length; later++) {
    for (let earlier = 0; earlier < later; earlier++) {
      for (const series of shared(byKey[earlier], byKey[later])) {
        if (!repeated.has(series)) repeated.set(series, earlier);
      }
    }
  }
  return repeated;
}

type ByKey = ReadonlyMap<string, Series>;

/** The later target's series that it shares with the earlier one; none when any of them differ. */
function shared(earlier: ByKey | undefined, later: ByKey | undefined): Series[] {
  const common: Series[] = [];
  let numbers = 0;
  let fractions = 0;
  for (const [key, series] of later ?? []) {
    const other = earlier?.get(key);
    if (other === undefined || isOfPage(series)) continue;
    if (isCumulative(series)) {
      const [a, b] = [isCumulative(other) ? lastNumbers(other) : [], lastNumbers(series)];
      if (a.length !== b.length || a.some((value, i) => value !== b[i])) return [];
      numbers += a.filter((value) => value > 0).length;
      fractions += a.filter((value) => !Number.isInteger(value)).length;
    }
    common.push(series);
  }
  return fractions > 0 || numbers >= ENOUGH_NUMBERS ? common : [];
}

/** What the client library says of itself is on each page of its own. */
function isOfPage({ family: { name } }: Series): boolean {
  return /^(process|python|go|promhttp|scrape|http)_/.test(name);
}

function lastNumbers(series: HistogramSeries | ScalarSeries): number[] {
  let change = series.changes - 1;
  while (change >= 0 && series.isAbsent(change)) change -= 1;
  if (change < 0) return [];
  if (!(series instanceof HistogramSeries)) return [series.value(change)];
  return [...series.bounds.map((_, bucket) => series.count(change, bucket)), series.sum(change), series.total(change)];
}
