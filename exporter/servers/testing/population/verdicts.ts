import { counterGain, histogramGain } from '../../series/cumulative-window.ts';
import { HistogramSeries, isCumulative } from '../../series/series.ts';
import { history, stored, type History } from './history.ts';

/** How often the window logic was right, reported the increase as unknown, or was wrong, by series. */
export interface Verdicts {
  exact: number;
  unknown: number;
  wrong: number;
  /** Series of histories whose pages another cause could also produce. */
  ambiguous: number;
  /** The first histories with a wrong gain. */
  readonly examples: string[];
}

/** Compares the increases over generated histories with the true ones. */
export function verdictsOver(seeds: Iterable<number>): Verdicts {
  const verdicts: Verdicts = { exact: 0, unknown: 0, wrong: 0, ambiguous: 0, examples: [] };
  for (const seed of seeds) judge(seed, history(seed), verdicts);
  return verdicts;
}

function judge(seed: number, one: History, verdicts: Verdicts): void {
  const gains = gainsOf(one);
  for (const [series, truth] of one.truth) {
    const gain = gains === null ? null : gains.has(series) ? (gains.get(series) ?? null) : 0;
    if (one.ambiguous) verdicts.ambiguous += 1;
    else if (gain === null) verdicts.unknown += 1;
    else if (gain === truth) verdicts.exact += 1;
    else {
      verdicts.wrong += 1;
      if (verdicts.examples.length < 10)
        verdicts.examples.push(
          `seed ${seed} (${one.shape}, start: ${one.start}): ${series} ${gain} instead of ${truth}`,
        );
    }
  }
}

/**
 * Null: nothing is known; a null value: that increase is unknown. Series of one name and labels with several grids are
 * added up.
 */
function gainsOf(one: History): Map<string, number | null> | null {
  const store = stored(one);
  if (store.severalServers !== null) return null;
  // The truth is that of whole pages.
  const to = one.pages.findLastIndex((page) => page?.endsWith('\n') === true);
  const range = { from: one.from, to, start_ns: Math.max(0, one.from) * 1e9 };
  const gains = new Map<string, number | null>();
  for (const series of store.series) {
    if (!isCumulative(series)) continue;
    const labels = Object.entries(series.labels).map(([name, value]) => `${name}="${value}"`);
    const key = `${series.family.name}${labels.length === 0 ? '' : `{${labels.join(',')}}`}`;
    const gain =
      series instanceof HistogramSeries
        ? histogramGain(series, store, range)?.count
        : counterGain(series, store, range)?.increase;
    const before = gains.get(key);
    gains.set(key, gain === undefined || before === null ? null : (before ?? 0) + gain);
  }
  return gains;
}
