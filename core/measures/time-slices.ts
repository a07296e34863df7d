import type { SliceChange, SlicedMeasure, TimeSlices } from '../run/result.ts';
import { changePointsOf } from '../stats/change-points.ts';
import { median } from '../stats/percentiles.ts';
import { seededRandom } from '../stats/seeded-random.ts';
import { changeText, quantity, quantityRange, things } from '../text/quantities.ts';
import { GapHistogram } from './chunk-reading.ts';
import { DISTRIBUTION_MEASURES, type PerRequestMeasure } from './measures.ts';
import { shortTitle } from './names.ts';
import type { RequestColumns } from './request-columns.ts';
import { SCALAR_MEASURES } from './scalar-measures.ts';

const MAX_SLICES = 60;
/** Of fewer slices no change could be found. */
const MIN_SLICES = 8;
/** Ok requests per slice, on average. */
const REQUESTS_PER_SLICE = 10;
/** A percentile is reported of slices with at least so many values. */
const MIN_VALUES = { p50: 1, p90: 10, p99: 100 } as const;
type SlicePercentile = keyof typeof MIN_VALUES;
const QUANTILES: Readonly<Record<SlicePercentile, number>> = { p50: 0.5, p90: 0.9, p99: 0.99 };

/** E-divisive: a change is one that a random order of the slices shows with at most this probability. */
export const SLICE_SIGNIFICANCE = 0.001;
/** Slices of each level. */
const MIN_LEVEL = 3;
/** Smaller changes of the level do not matter. */
export const SLICE_MARGIN = 0.05;

const THROUGHPUT = SCALAR_MEASURES.request_throughput.measure;
const SLICED = new Set(['time_to_first_token', 'inter_token_latency', 'request_latency']);
const MEASURES = DISTRIBUTION_MEASURES.filter(
  (measure): measure is PerRequestMeasure =>
    measure.value !== null && measure.clock === 'sent' && SLICED.has(measure.measure),
);

/** Nanoseconds since the run's start. */
interface Window {
  readonly start_ns: number;
  readonly end_ns: number;
}

/**
 * The measure phase in slices of equal length: at most 60, on average with ten ok requests or more, and not shorter than
 * half the median request, so that what one slice measures is hardly what the one before did. Null when these leave fewer than eight.
 * `hasOneLoad`: false when the load has stages, which change the level on purpose: then no changes are looked for.
 */
export function timeSlices(
  columns: RequestColumns,
  window: Window,
  { ok, medianLatency, hasOneLoad }: { ok: number; medianLatency: number | null; hasOneLoad: boolean },
): TimeSlices | null {
  const length_ns = window.end_ns - window.start_ns;
  if (medianLatency === null) return null;
  const fitting = Math.floor(length_ns / Math.max(1, medianLatency * 0.5e9));
  const count = Math.min(MAX_SLICES, Math.floor(ok / REQUESTS_PER_SLICE), fitting);
  if (count < MIN_SLICES) return null;
  const width_ns = length_ns / count;
  const sliceAt = (at_ns: number): number =>
    Math.min(count - 1, Math.max(0, Math.floor((at_ns - window.start_ns) / width_ns)));
  const histograms = MEASURES.map(() => Array.from({ length: count }, () => new GapHistogram()));
  const zeros = (): number[] => new Array<number>(count).fill(0);
  const counts = { ok: zeros(), failed: zeros(), ended: zeros() };
  columns.eachValue(MEASURES, (i, value, _row, { sent_ns }) => {
    if (value !== Infinity) histograms[i]?.[sliceAt(sent_ns)]?.observe(Math.max(0, Math.round(value * 1e9)));
  });
  columns.eachRequest((standing, { sent_ns, end_ns }) => {
    if (standing === 'cancelled') return;
    const sentIn = counts[standing];
    sentIn[sliceAt(sent_ns)] = (sentIn[sliceAt(sent_ns)] ?? 0) + 1;
    if (standing === 'ok') counts.ended[sliceAt(end_ns)] = (counts.ended[sliceAt(end_ns)] ?? 0) + 1;
  });
  const seconds = width_ns * 1e-9;
  const measures = MEASURES.flatMap(({ measure, unit }, i): SlicedMeasure[] => {
    const slices = histograms[i] ?? [];
    if (slices.every(({ n }) => n === 0)) return [];
    const each = (name: SlicePercentile): (number | null)[] =>
      slices.map((slice) => (slice.n < MIN_VALUES[name] ? null : slice.quantile(QUANTILES[name])));
    return [{ measure, unit, p50: each('p50'), p90: each('p90'), p99: each('p99') }];
  });
  const series = [
    ...measures.map(({ measure, p50 }) => [measure, p50] as const),
    [THROUGHPUT, counts.ended.map((ended) => ended / seconds)] as const,
  ];
  const changes = hasOneLoad ? series.flatMap(([measure, values]) => changesOf(measure, values)) : null;
  return { seconds, requests: counts, measures, changes, steady: changes && steadyPart(changes, count) };
}

/** Changes of the level of one series over the slices; those that have no value are passed over. */
export function changesOf(measure: string, values: readonly (number | null)[]): SliceChange[] {
  const known = values.flatMap((value, slice) => (value === null ? [] : [{ value, slice }]));
  const series = known.map(({ value }) => value);
  let found = changePointsOf(series, {
    ...{ significance: SLICE_SIGNIFICANCE, fewest: MIN_LEVEL },
    random: seededRandom(measure),
  });
  for (;;) {
    const edges = [0, ...found.map(({ index }) => index), series.length];
    const levels = edges.slice(1).map((end, i) => median(series.slice(edges[i], end)));
    const changes = found.map(({ index, p }, i): SliceChange => {
      const [before = NaN, after = NaN] = [levels[i], levels[i + 1]];
      return { measure, slice: known[index]?.slice ?? 0, before, after, p };
    });
    // The smallest change that does not matter is dropped, and its two levels are one.
    const sizes = changes.map(({ before, after }) => Math.abs(Math.log(after / before)));
    const smallest = Math.min(...sizes);
    if (!(smallest < Math.log(1 + SLICE_MARGIN))) return changes;
    found = found.filter((_, i) => i !== sizes.indexOf(smallest));
  }
}

/** The longest part without a change of any series; of equal ones the later, because caches and queues have filled by then. */
function steadyPart(changes: readonly SliceChange[], count: number): TimeSlices['steady'] {
  const edges = [...new Set([0, ...changes.map(({ slice }) => slice), count])].sort((a, b) => a - b);
  const parts = edges.slice(1).map((end, i) => ({ from: edges[i] ?? 0, to: end }));
  const longest = parts.reduce((best, part) => (part.to - part.from >= best.to - best.from ? part : best));
  return longest.to - longest.from < MIN_LEVEL ? null : longest;
}

const MAX_LINES = 6;

/** What the slices say of the run's steadiness, a sentence each; none when no changes were looked for. */
export function steadinessText(found: TimeSlices | undefined): readonly string[] {
  if (found === undefined || found.changes === null) return [];
  const { seconds, requests, measures, changes, steady } = found;
  const slices = `${requests.ok.length} slices of ${quantity(seconds, 'seconds')}`;
  const at = (slice: number): string => quantity(slice * seconds, 'seconds');
  if (changes.length === 0) {
    const names = measures.map(({ measure }) => shortTitle(measure, 'p50')).join(', ');
    return [`steady: no change of ${names} and throughput by 5 % or more over ${slices}`];
  }
  return [
    ...changes.slice(0, MAX_LINES).map(({ measure, slice, before, after, p }) => {
      const isRate = measure === THROUGHPUT;
      const name = isRate ? 'throughput' : shortTitle(measure, 'p50');
      const levels = quantityRange([before, after], isRate ? 'requests_per_second' : 'seconds').replace('–', '→');
      return `${name} ${levels} (${changeText(after / before)}) from ${at(slice)} on (p ${p}, ${slices})`;
    }),
    ...(changes.length > MAX_LINES ? [`${things(changes.length - MAX_LINES, 'more changes')} in result.json`] : []),
    steady === null
      ? 'no part of three slices or more is steady'
      : `longest steady part: ${at(steady.from)} to ${at(steady.to)} (${things(steady.to - steady.from, 'slices')}); all figures are of the whole window`,
  ];
}
