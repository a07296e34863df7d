import type { Exposition, Labels, MetricFamily } from './exposition.ts';
import { classicHistogram, parseBound, type ClassicHistogram } from '../histogram/classic-histogram.ts';

/**
 * One series of a classic histogram: one label set at one time. The counts are as the page has them, not repaired, and
 * the last bound is +Infinity unless the page lacks that bucket.
 */
export interface ClassicHistogramSeries extends ClassicHistogram {
  /** Without `le`. */
  readonly labels: Labels;
  /** The value of `_count`, null when the page lacks it. */
  readonly count: number | null;
  /** Start time from OpenMetrics' `_created`, Unix seconds. */
  readonly createdSeconds: number | null;
  readonly timestampSeconds: number | null;
  /** Buckets whose `le` is missing or not a number: omitted, as in Prometheus' `histogram_quantile`. */
  readonly unreadableBuckets: number;
}

interface Draft {
  labels: Labels;
  buckets: [le: string, count: number][];
  sum: number | null;
  count: number | null;
  createdSeconds: number | null;
  timestampSeconds: number | null;
  unreadableBuckets: number;
}

/**
 * The series of a family of type histogram or gaugehistogram, in the order of the page. Buckets of the same bound
 * (`le="1"` and `le="1.0"`) are added, as Prometheus does. A family of another type has none.
 */
export function classicHistograms({ columns }: Exposition, family: MetricFamily): ClassicHistogramSeries[] {
  if (family.type !== 'histogram' && family.type !== 'gaugehistogram') return [];
  const drafts = new Map<string, Draft>();
  for (const row of family.rows) {
    const setId = columns.labelSetIds[row] as number;
    const time = columns.timestampsSeconds?.[row] ?? NaN;
    const key = `${setId} ${time}`;
    let draft = drafts.get(key);
    if (draft === undefined) {
      draft = emptyDraft(columns.labelSets[setId] as Labels, time);
      drafts.set(key, draft);
    }
    const suffix = (columns.names[columns.nameIds[row] as number] as string).slice(family.name.length);
    const boundId = columns.boundIds[row] as number;
    addSample(draft, suffix, boundId < 0 ? null : (columns.bounds[boundId] as string), columns.values[row] as number);
  }
  return [...drafts.values()]
    .filter(({ buckets, count, sum }) => buckets.length > 0 || count !== null || sum !== null)
    .map(finish);
}

function emptyDraft(labels: Labels, time: number): Draft {
  return {
    labels,
    buckets: [],
    sum: null,
    count: null,
    createdSeconds: null,
    timestampSeconds: Number.isNaN(time) ? null : time,
    unreadableBuckets: 0,
  };
}

function addSample(draft: Draft, suffix: string, le: string | null, value: number): void {
  if (suffix === '_bucket') {
    if (le === null || parseBound(le) === null) draft.unreadableBuckets++;
    else draft.buckets.push([le, value]);
  } else if (suffix === '_sum' || suffix === '_gsum') draft.sum = value;
  else if (suffix === '_count' || suffix === '_gcount') draft.count = value;
  else if (suffix === '_created') draft.createdSeconds = value;
}

function finish({ buckets, sum, ...rest }: Draft): ClassicHistogramSeries {
  return { ...rest, ...classicHistogram(buckets, sum) };
}
