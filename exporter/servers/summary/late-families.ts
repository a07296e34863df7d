import { systemsOfNames, FamilyIndex } from '../../../catalog/lookup.ts';
import { loadCatalog } from '../../../catalog/load.ts';
import type { InexactFamily } from '../../../core/run/result.ts';
import { totalAt } from '../series/lives/cumulative-values.ts';
import { HistogramSeries, isCumulative } from '../series/series.ts';
import type { StatisticsWindow } from '../series/statistics.ts';
import type { TargetStore } from '../series/target-store.ts';
import { requestSeries } from './request-counts.ts';

/** A histogram without observations on a server that had counted this many requests before is not used there. */
const REQUESTS_OF_UNUSED = 10;

/** Histograms of a page that observe each request once, beside the family that counts requests. */
class RequestFamilies {
  readonly #store: TargetStore;
  readonly #names: ReadonlySet<string>;

  constructor(store: TargetStore) {
    this.#store = store;
    const names = new Set(
      store.series.filter((series) => series instanceof HistogramSeries).map(({ family }) => family.name),
    );
    const index = new FamilyIndex(systemsOfNames(names).map(loadCatalog));
    this.#names = new Set([...names].filter((name) => index.find(name)[0]?.family.per === 'request'));
  }

  /** By family: how many requests more than observations the page of a scrape has. */
  missing(scrape: number): ReadonlyMap<string, number> {
    const requests = requestSeries(this.#store);
    if (requests === null || scrape < 0) return new Map();
    const counted = (at: number): number => requests.reduce((sum, series) => sum + totalAt(series, at), 0);
    const wasUsed = counted(this.#firstOk) >= REQUESTS_OF_UNUSED;
    return new Map(
      [...this.#names]
        .map((name): [string, number] => [name, this.observations(name, scrape)])
        .filter(([, observations]) => observations > 0 || !wasUsed)
        .map(([name, observations]) => [name, counted(scrape) - observations]),
    );
  }

  observations(family: string, scrape: number): number {
    return this.#store.series
      .filter((series) => isCumulative(series) && series.family.name === family)
      .reduce((sum, series) => sum + (series instanceof HistogramSeries ? totalAt(series, scrape) : 0), 0);
  }

  /** Those whose observations in the window are not those of its requests, because they come late; without any it is not used. */
  inexact({ range: { from, to } }: StatisticsWindow): Omit<InexactFamily, 'target'>[] {
    const { restarts, unclear, severalServers } = this.#store;
    if (from < 0 || restarts.length > 0 || unclear.length > 0 || severalServers !== null) return [];
    const [first, start, end] = [this.#firstOk, from, to].map((scrape) => this.missing(scrape));
    return [...(end ?? [])].flatMap(([family, atEnd]) => {
      const atStart = start?.get(family) ?? 0;
      const isLate =
        atStart > Math.max(0, first?.get(family) ?? 0) || (atStart !== atEnd && Math.max(atStart, atEnd) > 0);
      const observations = this.observations(family, to) - this.observations(family, from);
      if (!isLate || observations === 0) return [];
      return [{ family, observations, requests: observations + atEnd - atStart }];
    });
  }

  get #firstOk(): number {
    let scrape = 0;
    while (scrape < this.#store.scrapes - 1 && !this.#store.isOk(scrape)) scrape += 1;
    return scrape;
  }
}

interface GivenUp {
  /** How many requests more than observations. */
  readonly missing: number;
  readonly observations: number;
}

/** Watches at the edges of a run whether the histograms of requests have all the requests that a server has counted. */
export class LateFamilies {
  readonly #known = new Map<TargetStore, { readonly series: number; readonly families: RequestFamilies }>();
  /** What was missing although it was waited for, and what the family had then: it is not late. */
  readonly #never = new Map<TargetStore, ReadonlyMap<string, GivenUp>>();

  /** Whether observations of requests that are counted are still missing. */
  anyLate(stores: readonly TargetStore[]): boolean {
    return stores.some((store) => {
      const families = this.#of(store);
      const newest = store.lastOkAt(Infinity);
      return Array.from(families.missing(newest)).some(([family, count]) => {
        const { missing = 0, observations = NaN } = this.#never.get(store)?.get(family) ?? {};
        // Requests of this kind, such as embeddings, do not observe it.
        const isUnused = missing > 0 && families.observations(family, newest) === observations;
        return count > Math.max(0, missing) && !isUnused;
      });
    });
  }

  /** What is missing now will not come. */
  giveUp(stores: readonly TargetStore[]): void {
    for (const store of stores) {
      const families = this.#of(store);
      const newest = store.lastOkAt(Infinity);
      const never = Array.from(families.missing(newest), ([family, missing]): [string, GivenUp] => {
        return [family, { missing, observations: families.observations(family, newest) }];
      });
      this.#never.set(store, new Map(never));
    }
  }

  inexact(
    targets: readonly { readonly name: string; readonly store: TargetStore; readonly window: StatisticsWindow }[],
  ): InexactFamily[] {
    return targets.flatMap(({ name, store, window }) =>
      this.#of(store)
        .inexact(window)
        .map((each) => ({ target: name, ...each })),
    );
  }

  #of(store: TargetStore): RequestFamilies {
    const known = this.#known.get(store);
    if (known?.series === store.series.length) return known.families;
    const families = new RequestFamilies(store);
    this.#known.set(store, { series: store.series.length, families });
    return families;
  }
}
