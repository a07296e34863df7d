import { addHistograms } from './add.ts';
import { bucketAdvice, type BucketAdvice, type DividedBucket } from './bucket-advice.ts';
import { inOrder, type ClassicHistogram } from './classic-histogram.ts';
import { sameGrid } from './grid.ts';
import { total } from './total.ts';
import { hasWholeValues } from './whole-values.ts';

/** One series of a histogram family with what it observed. */
export interface ObservedSeries {
  readonly family: string;
  /** Without `le`. */
  readonly labels: Readonly<Record<string, string>>;
  readonly histogram: ClassicHistogram;
  /** False: made by `rate()` or `increase()`. */
  readonly exact: boolean;
}

/** The series of a family that differ only in the part of the server they come from. */
export interface GroupAdvice extends BucketAdvice {
  /** The labels that they share. */
  readonly labels: Readonly<Record<string, string>>;
  readonly n: number;
  readonly exact: boolean;
  readonly histogram: ClassicHistogram;
}

/** What the bounds of a family leave uncertain, and what narrower buckets cost. */
export interface FamilyAdvice {
  readonly family: string;
  /** Those with observations, most of them first; empty: nothing was observed. */
  readonly groups: readonly GroupAdvice[];
  /** Finite bounds of today, ascending. */
  readonly bounds: readonly number[];
  /** The buckets to divide of all groups, ascending. */
  readonly divided: readonly DividedBucket[];
  /** The highest of the groups; null: no percentile lies above the last bound. */
  readonly missingAbove: number | null;
  /** Series of `_bucket`, `_sum` and `_count` today. */
  readonly series: number;
  /** Further ones with one more bound per bucket to divide. */
  readonly seriesAdded: number;
}

/** Labels that name a part of a server: a process, an engine, a rank, a worker. */
const PART = /^(engine|pid|process|replica|instance|pod|worker|(.*_)?(rank|worker_id|engine_id))$/;

/**
 * The advice on every family of a server, in the order of first appearance. Series of one family with like bounds are
 * added over the parts of the server, as `sum by (le)` would; other labels (a stage, a model) keep them apart.
 * `unitOf` gives the unit of a family, null when it is unknown.
 */
export function familyAdvice(
  all: readonly ObservedSeries[],
  unitOf: (family: string) => string | null,
): FamilyAdvice[] {
  const byFamily = new Map<string, ObservedSeries[]>();
  for (const each of all) {
    const same = byFamily.get(each.family);
    if (same === undefined) byFamily.set(each.family, [each]);
    else same.push(each);
  }
  return Array.from(byFamily, ([family, series]) => adviceOn(family, series, unitOf(family)));
}

function adviceOn(family: string, series: readonly ObservedSeries[], unit: string | null): FamilyAdvice {
  const groups = grouped(series)
    .flatMap((group) => groupAdvice(group, unit))
    .sort((a, b) => b.n - a.n);
  const bounds = ascending(series.flatMap(({ histogram }) => histogram.bounds.filter(Number.isFinite)));
  const divided = [...new Map(groups.flatMap((group) => group.divided).map((each) => [each.bound, each])).values()];
  const missing = groups.flatMap(({ missingAbove }) => (missingAbove === null ? [] : [missingAbove]));
  return {
    family,
    groups,
    bounds,
    divided: divided.sort((a, b) => a.bound - b.bound),
    missingAbove: missing.length === 0 ? null : Math.max(...missing),
    series: series.reduce((sum, { histogram }) => sum + histogram.bounds.length + 2, 0),
    seriesAdded: divided.length * series.length,
  };
}

/** Series that agree in all labels but those of parts, and in their bounds. */
function grouped(series: readonly ObservedSeries[]): ObservedSeries[][] {
  const groups: ObservedSeries[][] = [];
  for (const each of series) {
    const labels = keyOf(sharedLabels(each));
    const group = groups.find(
      ([first]) =>
        first !== undefined &&
        keyOf(sharedLabels(first)) === labels &&
        sameGrid(inOrder(first.histogram).bounds, inOrder(each.histogram).bounds),
    );
    if (group === undefined) groups.push([each]);
    else group.push(each);
  }
  return groups;
}

function groupAdvice(group: readonly ObservedSeries[], unit: string | null): GroupAdvice[] {
  const [first] = group;
  const histogram = addHistograms(group.map((each) => inOrder(each.histogram)));
  if (first === undefined || histogram === null) return [];
  const exact = group.every((each) => each.exact);
  const advice = bucketAdvice(histogram, { exact, whole: hasWholeValues(unit, histogram.bounds) });
  return advice === null ? [] : [{ ...advice, labels: sharedLabels(first), n: total(histogram), exact, histogram }];
}

const sharedLabels = ({ labels }: ObservedSeries): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([label]) => !PART.test(label)));

const keyOf = (labels: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

const ascending = (bounds: readonly number[]): number[] => [...new Set(bounds)].sort((a, b) => a - b);
