import { quantities, type EquivalentFamily } from '../../../catalog/equivalents.ts';
import { addHistograms, type ClassicHistogram, onJointGrid } from '../../../core/histogram/classic-histogram.ts';
import { repeats, type CollectedTarget, type Collection } from '../collection.ts';
import { counterGain, histogramGain } from '../series/cumulative-window.ts';
import { NativeHistogramSeries } from '../series/native-series.ts';
import { HistogramSeries, ScalarSeries, type Series } from '../series/series.ts';

const familiesOf = (name: string): readonly EquivalentFamily[] =>
  quantities().find(({ quantity }) => quantity === name)?.families ?? [];

/** The systems that expose a quantity of the catalog. */
export const systemsOf = (name: string): readonly string[] => [
  ...new Set(familiesOf(name).map(({ system }) => system)),
];

/** Increase of the series of a system's family in the window; null when none exists. */
export function gained(collection: Collection, quantity: string, system: string): number | null {
  const gains = familiesOf(quantity)
    .filter((member) => member.system === system)
    .flatMap((member) => gainsOf(collection, member));
  return gains.length === 0 ? null : gains.reduce((sum, gain) => sum + gain, 0);
}

/** Increase of a family's series in the window by the value of a label; series without the label are under the empty one. */
export function gainedBy(collection: Collection, family: string, label: string): ReadonlyMap<string, number> {
  const gains = new Map<string, number>();
  for (const { series, target } of seriesOf(collection, { family })) {
    const gain = gainOf(series, target);
    const value = series.labels[label] ?? '';
    if (gain !== null) gains.set(value, (gains.get(value) ?? 0) + gain);
  }
  return gains;
}

/** What the histograms of a system observed in the window, of all its servers together. */
export interface ObservedQuantity {
  readonly count: number;
  readonly mean: number;
  /** Null: the servers have different bounds, which are not added. */
  readonly histogram: ClassicHistogram | null;
}

/** Null: there is no such histogram, no observation, or their sum is unknown. */
export function observed(collection: Collection, quantity: string, system: string): ObservedQuantity | null {
  const found = familiesOf(quantity)
    .filter((member) => member.system === system && member.only === undefined)
    .flatMap((member) => seriesOf(collection, member))
    .filter((each) => each.series instanceof HistogramSeries);
  const gains = found.flatMap(({ series, target: { store, window } }) =>
    series instanceof HistogramSeries ? (histogramGain(series, store, window.range) ?? []) : [],
  );
  let [count, sum] = [0, 0];
  for (const gain of gains) {
    // Of Ray's histograms the sums are unknown.
    if (gain.histogram.sum === null) return null;
    count += gain.count;
    sum += gain.histogram.sum;
  }
  if (!(count > 0)) return null;
  const histograms = gains.map(({ histogram }) => histogram);
  const isNative = found.every(({ series }) => series instanceof NativeHistogramSeries);
  return { count, mean: sum / count, histogram: addHistograms(isNative ? onJointGrid(histograms) : histograms) };
}

/** The series of a family, without those that an earlier target also exposes. */
function seriesOf(
  collection: Collection,
  { family, labels = {} }: Pick<EquivalentFamily, 'family' | 'labels'>,
): { readonly series: Series; readonly target: CollectedTarget }[] {
  const counts = (series: Series): boolean =>
    series.family.name === family &&
    Object.entries(labels).every(([label, value]) => series.labels[label] === value) &&
    repeats(collection, series) === null;
  return collection.targets.flatMap((target) =>
    target.store.series.filter(counts).map((series) => ({ series, target })),
  );
}

function gainsOf(collection: Collection, member: EquivalentFamily): number[] {
  return seriesOf(collection, member).flatMap(({ series, target }) => gainOf(series, target) ?? []);
}

function gainOf(series: Series, { store, window }: CollectedTarget): number | null {
  if (series instanceof ScalarSeries) return counterGain(series, store, window.range)?.increase ?? null;
  if (series instanceof HistogramSeries) return histogramGain(series, store, window.range)?.histogram.sum ?? null;
  return null;
}
