import type { Exposition, Labels, MetricFamily, MetricType } from '../../core/exposition/index.ts';
import type { NativeHistogram } from '../../core/histogram/native/native-histogram.ts';
import { parseBound } from '../../core/histogram/parse-bound.ts';
import type { FamilyFacts, SeriesType } from './series.ts';

/** Where on a page the value of a series of single numbers stands. */
export interface ScalarPlace {
  readonly family: FamilyFacts;
  readonly labels: Labels;
  readonly row: number;
}

/** Where the numbers of one histogram stand; −1: the page has none. Bounds ascend. */
export interface HistogramPlace {
  readonly family: FamilyFacts;
  readonly labels: Labels;
  readonly bounds: readonly number[];
  readonly boundTexts: readonly string[];
  readonly bucketRows: readonly number[];
  readonly sumRow: number;
  readonly countRow: number;
}

/** A native histogram of a page. */
export interface NativePlace {
  readonly family: FamilyFacts;
  readonly labels: Labels;
  readonly histogram: NativeHistogram;
}

/** What stands where on a page: the same for all pages of the same lines. */
export interface PageSeries {
  readonly scalars: readonly ScalarPlace[];
  readonly histograms: readonly HistogramPlace[];
  /** Without those that are classic ones as well: their buckets are the same in every format. */
  readonly natives: readonly NativePlace[];
  /** Start times, Unix seconds: of the process, or of single series (`_created`). */
  readonly startTimes: readonly { readonly key: string; readonly row: number }[];
}

const TYPES: Readonly<Record<MetricType, SeriesType>> = {
  counter: 'counter',
  gauge: 'gauge',
  histogram: 'histogram',
  gaugehistogram: 'unknown',
  summary: 'summary',
  info: 'info',
  stateset: 'gauge',
  unknown: 'unknown',
};

/** The name of the series that tells when the process began. */
export const PROCESS_START = 'process_start_time_seconds';

/** Sorts out the rows of a page. A series that stands there twice (with different timestamps) counts once, its last row. */
export function pageSeries(page: Exposition): PageSeries {
  const scalars = new Map<string, ScalarPlace>();
  const histograms = new Map<string, HistogramDraft>();
  const startTimes = new Map<string, number>();
  for (const family of page.families) {
    if (family.type === 'histogram') collectHistograms(page, family, histograms, startTimes);
    else collectScalars(page, family, scalars, startTimes);
  }
  const classic = [...histograms.values()].filter(({ buckets }) => buckets.size > 0).map(histogramPlace);
  return {
    scalars: [...scalars.values()],
    histograms: classic,
    natives: nativePlaces(page, classic),
    startTimes: ownStartTimes(startTimes),
  };
}

function nativePlaces(page: Exposition, classic: readonly HistogramPlace[]): NativePlace[] {
  const places = new Map<string, NativePlace>();
  const known = new Set(
    page.nativeHistograms.length === 0 ? [] : classic.map(({ family, labels }) => seriesKey(family.name, labels)),
  );
  for (const { family: name, labels, histogram } of page.nativeHistograms) {
    const family = page.family(name);
    const key = seriesKey(canonicalName(name), labels);
    if (family?.type === 'histogram' && !known.has(key))
      places.set(key, { family: histogramFacts(family), labels, histogram });
  }
  return [...places.values()];
}

/** The process' own start time where the page has it: pages that pass others through carry theirs with labels. */
function ownStartTimes(all: ReadonlyMap<string, number>): PageSeries['startTimes'] {
  const own = all.get(seriesKey(PROCESS_START, {}));
  if (own !== undefined) return [{ key: PROCESS_START, row: own }];
  return Array.from(all, ([key, row]) => ({ key, row }));
}

function collectScalars(
  { columns }: Exposition,
  family: MetricFamily,
  scalars: Map<string, ScalarPlace>,
  startTimes: Map<string, number>,
): void {
  const facts = new Map<string, FamilyFacts>();
  for (const row of family.rows) {
    const name = columns.names[columns.nameIds[row] as number] as string;
    const setId = columns.labelSetIds[row] as number;
    const key = `${setId} ${name}`;
    if (isStartTime(name)) {
      startTimes.set(seriesKey(name, columns.labelSets[setId] as Labels), row);
      if (name !== PROCESS_START) continue;
    }
    let fact = facts.get(name);
    if (fact === undefined) {
      const type = family.type === 'summary' && name !== family.name ? 'counter' : TYPES[family.type];
      fact = {
        name: canonicalName(name),
        type,
        help: family.help,
        unit: family.unit,
        ofSummary: family.type === 'summary',
      };
      facts.set(name, fact);
    }
    scalars.set(key, { family: fact, labels: columns.labelSets[setId] as Labels, row });
  }
}

interface HistogramDraft {
  readonly family: FamilyFacts;
  readonly labels: Labels;
  /** Rows by the bound's text. */
  readonly buckets: Map<string, number>;
  sumRow: number;
  countRow: number;
}

function collectHistograms(
  { columns }: Exposition,
  family: MetricFamily,
  histograms: Map<string, HistogramDraft>,
  startTimes: Map<string, number>,
): void {
  const facts = histogramFacts(family);
  for (const row of family.rows) {
    const name = columns.names[columns.nameIds[row] as number] as string;
    const setId = columns.labelSetIds[row] as number;
    const key = `${setId} ${family.name}`;
    const suffix = name.slice(family.name.length);
    if (suffix === '_created') {
      startTimes.set(seriesKey(name, columns.labelSets[setId] as Labels), row);
      continue;
    }
    let draft = histograms.get(key);
    if (draft === undefined) {
      const labels = columns.labelSets[setId] as Labels;
      draft = { family: facts, labels, buckets: new Map(), sumRow: -1, countRow: -1 };
      histograms.set(key, draft);
    }
    const boundId = columns.boundIds[row] as number;
    if (suffix === '_sum') draft.sumRow = row;
    else if (suffix === '_count') draft.countRow = row;
    else if (boundId >= 0) draft.buckets.set(columns.bounds[boundId] as string, row);
  }
}

function histogramFacts({ name, help, unit }: MetricFamily): FamilyFacts {
  return { name: canonicalName(name), type: 'histogram', help, unit, ofSummary: false };
}

/** Buckets whose bound is no number are left out; the others are cumulative and stay true. */
function histogramPlace({ buckets, ...rest }: HistogramDraft): HistogramPlace {
  const sorted = Array.from(buckets, ([text, row]) => ({ text, row, bound: parseBound(text) }))
    .filter((bucket): bucket is { text: string; row: number; bound: number } => bucket.bound !== null)
    .sort((a, b) => (a.bound < b.bound ? -1 : 1))
    .filter(({ bound }, i, all) => i === 0 || bound !== all[i - 1]?.bound);
  return {
    ...rest,
    bounds: sorted.map(({ bound }) => bound),
    boundTexts: sorted.map(({ text }) => text),
    bucketRows: sorted.map(({ row }) => row),
  };
}

/** SGLang's families are written with a colon by the engine and with an underscore by its gateway. */
function canonicalName(name: string): string {
  return name.startsWith('sglang_') ? `sglang:${name.slice('sglang_'.length)}` : name;
}

/** Also the gauges that the Python client writes beside each counter and histogram in the text format. */
function isStartTime(name: string): boolean {
  return name === PROCESS_START || name.endsWith('_created');
}

/** The same for the same labels in any order. */
export function seriesKey(name: string, labels: Labels): string {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `${name} ${JSON.stringify(pairs)}`;
}
