import { systemsOfNames, FamilyIndex } from '../../catalog/lookup.ts';
import { loadCatalog } from '../../catalog/load.ts';
import type { Catalog, FamilyMatch } from '../../catalog/types.ts';
import {
  ADVISED_QUANTILES,
  familyAdvice,
  type AdvisedInterval,
  type AdvisedPercentile,
  type DividedBucket,
  type ObservedSeries,
  type FamilyAdvice,
  type GroupAdvice,
} from '../../core/histogram/bucket-advice.ts';
import { bucketSettings, optionOf } from '../../core/histogram/bucket-setting.ts';
import { classicHistogram, type ClassicHistogram } from '../../core/histogram/classic-histogram.ts';
import type { ServersFile, SeriesSummary } from '../../core/run/servers-file.ts';
import type { CollectedTarget } from '../servers/collection.ts';
import { HistogramSeries } from '../servers/series/series.ts';
import { inferredUnit } from '../servers/summary/families.ts';
import { boundsForLimits, limitBuckets, type ServerLimit, type LimitBuckets } from './limit-report.ts';

/** Histograms of one target with what they observed. */
interface ObservedTarget {
  /** The URL without user info and query. */
  readonly target: string;
  readonly series: readonly ObservedSeries[];
}

/** What the histograms of each target observed in the window of the file. Series of another target's are left out. */
export function observedInWindow({ targets, series }: ServersFile): ObservedTarget[] {
  return targets.map(({ target }) => ({
    target,
    series: series.flatMap((each) => {
      const histogram = each.target === target && each.repeats === null ? histogramOf(each) : null;
      return histogram === null ? [] : [{ family: each.family, labels: each.labels, histogram, exact: true }];
    }),
  }));
}

function histogramOf({ type, statistics }: SeriesSummary): ClassicHistogram | null {
  if (type !== 'histogram' || statistics === null || !('buckets' in statistics)) return null;
  const { buckets = null } = statistics;
  return buckets === null || buckets.length === 0 ? null : classicHistogram(buckets);
}

/** All that the histograms of a target counted since their process started, by its newest page. */
export function observedSinceStart({ name, store }: CollectedTarget): ObservedTarget {
  return {
    target: name,
    series: store.series.flatMap((each) => {
      const histogram = each instanceof HistogramSeries ? newestCounts(each) : null;
      return histogram === null ? [] : [{ family: each.family.name, labels: each.labels, histogram, exact: true }];
    }),
  };
}

function newestCounts(series: HistogramSeries): ClassicHistogram | null {
  const change = series.lastValueAt(series.changes - 1);
  if (change < 0 || series.bounds.length === 0) return null;
  return { bounds: series.bounds, counts: series.bounds.map((_, bucket) => series.count(change, bucket)), sum: null };
}

/** What the counts are: those of the window, or all since the server's process started. */
export type CountedOver = 'window' | 'since_start';

/** The histograms of one target: how wide their percentiles are, and what narrows them. */
export interface BucketReport {
  readonly target: string;
  /** The systems whose families the page has. */
  readonly systems: readonly string[];
  /** Those with observations, in the order of the page. */
  readonly families: readonly FamilyBuckets[];
  /** Histogram families without observations. */
  readonly without_observations: readonly string[];
  /** What the buckets know of the limits of objectives and alerts. */
  readonly limits: readonly LimitBuckets[];
  /** One per option of the server, for all families that it sets. */
  readonly settings: readonly SettingOfOption[];
}

export interface FamilyBuckets {
  /** As the page spells it. */
  readonly family: string;
  /** The catalog that describes it; null: none does. */
  readonly system: string | null;
  readonly unit: string | null;
  /** What one observation is. */
  readonly per: string | null;
  readonly counted: CountedOver;
  /** Finite upper bounds of today, in the family's unit. */
  readonly bounds: readonly number[];
  readonly groups: readonly GroupBuckets[];
  /** The buckets to divide, with the bound that halves each. */
  readonly divide: readonly DividedBucket[];
  /** A percentile lies above this last bound; null: none does. */
  readonly missing_above: number | null;
  readonly series: number;
  readonly series_added: number;
  /** The option that sets the bounds; null: see `option_known`. */
  readonly option: string | null;
  /** False: it is not known whether the server has an option. */
  readonly option_known: boolean;
}

export interface GroupBuckets {
  readonly labels: Readonly<Record<string, string>>;
  readonly n: number;
  readonly percentiles: Readonly<Record<AdvisedPercentile, PercentileInterval | null>>;
}

/** (low, high]; null ends are infinite. */
export interface PercentileInterval {
  readonly low: number | null;
  readonly high: number | null;
  readonly width: number | null;
  /** Width ÷ the middle of the interval. */
  readonly relative_width: number | null;
  /** Above 1: the two values next to the percentile lie in different buckets. */
  readonly buckets: number;
}

export interface SettingOfOption {
  readonly system: string;
  readonly option: string;
  readonly place: 'argument' | 'environment' | 'file';
  /** To be copied; null: no value of the option is enough. */
  readonly setting: string | null;
  readonly since: string | null;
  readonly note: string | null;
  readonly families: readonly string[];
  /** How many finite bounds they have, and will have: each is a series per set of labels. */
  readonly bounds: readonly { readonly family: string; readonly today: number; readonly then: number }[];
}

/**
 * The report on one target. Families without observations in the window are taken from the counts since the start, where
 * they are given.
 *
 * @param limits what the buckets have to show besides percentiles
 */
export function bucketReport(
  inWindow: ObservedTarget,
  sinceStart: ObservedTarget | null,
  limits: readonly ServerLimit[],
): BucketReport {
  const names = [...new Set(inWindow.series.map(({ family }) => family))];
  const catalogs = systemsOfNames(names).map(loadCatalog);
  const index = new FamilyIndex(catalogs);
  const match = (family: string): FamilyMatch | null => index.find(family)[0] ?? null;
  const unitOf = (family: string): string | null => match(family)?.family.unit ?? inferredUnit(family, null);
  const advice = (observed: ObservedTarget): Map<string, FamilyAdvice> =>
    new Map(familyAdvice(observed.series, unitOf).map((each) => [each.family, each]));
  const window = advice(inWindow);
  const start = sinceStart === null ? null : advice(sinceStart);
  const chosen = names.flatMap((family) => {
    const candidates = [
      { counted: 'window' as const, advice: window.get(family) },
      { counted: 'since_start' as const, advice: start?.get(family) },
    ];
    const found = candidates.find((each) => (each.advice?.groups.length ?? 0) > 0);
    return found?.advice === undefined ? [] : [{ counted: found.counted, advice: found.advice, match: match(family) }];
  });
  return {
    target: inWindow.target,
    systems: catalogs.map(({ system }) => system),
    families: chosen.map(familyBuckets),
    without_observations: names.filter((name) => !chosen.some(({ advice: { family } }) => family === name)),
    limits: chosen.flatMap(({ advice: { family, bounds, groups }, match }) =>
      limitBuckets({ family, bounds, groups, match }, limits),
    ),
    settings: catalogs.flatMap((catalog) => settingsOf(catalog, chosen, limits)),
  };
}

/** A family with the counts that its row is about. */
interface Chosen {
  readonly counted: CountedOver;
  readonly advice: FamilyAdvice;
  readonly match: FamilyMatch | null;
}

function familyBuckets({ counted, advice, match }: Chosen): FamilyBuckets {
  const { bucket_options: options, bucket_options_unknown: unknown = [] } = match?.catalog ?? {};
  const name = match?.family.name ?? advice.family;
  return {
    family: advice.family,
    system: match?.catalog.system ?? null,
    unit: match?.family.unit ?? inferredUnit(advice.family, null),
    per: match?.family.per ?? null,
    counted,
    bounds: advice.bounds,
    groups: advice.groups.map(groupBuckets),
    divide: advice.divided,
    missing_above: finite(advice.missingAbove),
    series: advice.series,
    series_added: advice.seriesAdded,
    option: optionOf(options ?? [], name)?.name ?? null,
    option_known: options !== undefined && !unknown.includes(name),
  };
}

function groupBuckets({ labels, n, intervals }: GroupAdvice): GroupBuckets {
  const percentiles = Object.keys(ADVISED_QUANTILES).map((name) => [
    name,
    percentileInterval(intervals[name as AdvisedPercentile]),
  ]);
  return { labels, n, percentiles: Object.fromEntries(percentiles) as GroupBuckets['percentiles'] };
}

function percentileInterval(interval: AdvisedInterval | null): PercentileInterval | null {
  if (interval === null) return null;
  const { low, high, width, relativeWidth, buckets } = interval;
  return { low: finite(low), high: finite(high), width, relative_width: relativeWidth, buckets };
}

const finite = (value: number | null): number | null => (value !== null && Number.isFinite(value) ? value : null);

function settingsOf(
  { system, bucket_options: options = [] }: Catalog,
  chosen: readonly Chosen[],
  limits: readonly ServerLimit[],
): SettingOfOption[] {
  const own = chosen.filter(({ match }) => match?.catalog.system === system);
  const families = own.map(({ advice: { bounds, divided }, match }) => {
    const family = match?.family.name ?? '';
    // Equal steps are as narrow everywhere as around a limit: hundreds of bounds, for an objective that was given only.
    const isList = optionOf(options, family)?.takes === 'list';
    const taken = isList ? limits : limits.filter(({ from }) => from !== 'alert');
    return { family, bounds, divided: [...divided, ...boundsForLimits(match, bounds, taken)] };
  });
  return bucketSettings(options, families).map(({ option, text, families: set }) => ({
    system,
    option: option.name,
    place: option.place,
    setting: text,
    since: option.since ?? null,
    note: option.note ?? null,
    families: set.map(({ family }) => family),
    bounds: set.map(({ family, bounds }) => ({
      family,
      today: families.find((each) => each.family === family)?.bounds.length ?? 0,
      then: bounds.length,
    })),
  }));
}
