import { quantities } from '../../../catalog/equivalents.ts';
import type { EquivalentFamily } from '../../../catalog/equivalents.ts';
import { repeats, type CollectedTarget, type Collection } from '../collection.ts';
import { counterGain, histogramGain } from '../series/cumulative-window.ts';
import { HistogramSeries, ScalarSeries, type Series } from '../series/series.ts';

/**
 * Families of cached and of all prompt tokens, counters first; a system that only observes them per request exposes
 * them as sums.
 */
const PAIRS = [
  { cached: 'cached_prompt_tokens_total', all: 'prompt_tokens_total' },
  { cached: 'cached_input_tokens', all: 'input_tokens' },
] as const;

/**
 * The share of the window's prompt tokens that the servers took from a cache, by the counters that the catalog names
 * for it. Null: no system exposes both, or no prompt token was counted.
 */
export function cacheShare(collection: Collection): number | null {
  for (const { cached, all } of PAIRS) {
    for (const system of systemsOf(cached)) {
      const [part, whole] = [gained(collection, cached, system), gained(collection, all, system)];
      if (part !== null && whole !== null && whole > 0) return part / whole;
    }
  }
  return null;
}

const familiesOf = (name: string): readonly EquivalentFamily[] =>
  quantities().find(({ quantity }) => quantity === name)?.families ?? [];

const systemsOf = (name: string): readonly string[] => [...new Set(familiesOf(name).map(({ system }) => system))];

/** Increase of the series of a system's family in the window; null when none exists. */
function gained(collection: Collection, quantity: string, system: string): number | null {
  const gains = familiesOf(quantity)
    .filter((member) => member.system === system)
    .flatMap((member) => gainsOf(collection, member));
  return gains.length === 0 ? null : gains.reduce((sum, gain) => sum + gain, 0);
}

function gainsOf(collection: Collection, { family, labels = {} }: EquivalentFamily): number[] {
  const counts = (series: Series): boolean =>
    series.family.name === family &&
    Object.entries(labels).every(([label, value]) => series.labels[label] === value) &&
    repeats(collection, series) === null;
  return collection.targets.flatMap((target) =>
    target.store.series.filter(counts).flatMap((series) => {
      const gain = gainOf(series, target);
      return gain === null ? [] : [gain];
    }),
  );
}

function gainOf(series: Series, { store, window }: CollectedTarget): number | null {
  if (series instanceof ScalarSeries) return counterGain(series, store, window.range)?.increase ?? null;
  if (series instanceof HistogramSeries) return histogramGain(series, store, window.range)?.histogram.sum ?? null;
  return null;
}
