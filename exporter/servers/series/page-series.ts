import { isOfRay, namesOnPage, nativeName, RAY_RECORDER } from '../../../catalog/lookup.ts';
import { labelsOfRow } from '../../../core/exposition/index.ts';
import type { Exposition, Labels, MetricFamily, MetricType } from '../../../core/exposition/index.ts';
import type { NativeHistogram } from '../../../core/histogram/native-histogram.ts';
import { parseBound } from '../../../core/histogram/classic-histogram.ts';
import type { FamilyFacts } from './series.ts';
import type { SeriesType } from '../../../core/run/servers-file.ts';

/** Position on a page of the value of a single-valued series. */
export interface ScalarPlace {
  readonly family: FamilyFacts;
  readonly labels: Labels;
  readonly row: number;
}

/** Positions of the numbers of one histogram; −1: not on the page. Bounds ascend. */
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

/** A start time on a page. */
export interface StartTimePlace {
  readonly key: string;
  readonly row: number;
  /** `uptime`: the row holds the seconds since the start. */
  readonly kind: 'start' | 'uptime';
  /** Of a process: the labels that its series carry. Of one series: the name of its family. */
  readonly labels: Labels;
  readonly family: string | null;
}

/** Layout of a page: identical for all pages with the same lines. */
export interface PageSeries {
  readonly scalars: readonly ScalarPlace[];
  readonly histograms: readonly HistogramPlace[];
  /** Without those that are also classic: their buckets are the same in every format. */
  readonly natives: readonly NativePlace[];
  /** Of processes, and of single series (`_created`). */
  readonly startTimes: readonly StartTimePlace[];
  /** Families read as histograms because of their suffixes: the page has no TYPE for them. */
  readonly untypedHistograms: readonly string[];
  /** Ray exposes the values, which it collects from the engines inside it. */
  readonly isOfRay: boolean;
  /** Sums of histograms are left out, because Ray makes them of the middles of the buckets. */
  readonly omitsSums: boolean;
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

/** The name of the series that states when the process started. */
export const PROCESS_START = 'process_start_time_seconds';

/** The name of a gauge of seconds since the start of the process. */
export const isUptime = (name: string): boolean => /(^|_)uptime_seconds$/.test(name);

/**
 * Groups the rows of a page by series. Of a series that occurs twice (with different timestamps) the last row counts.
 */
export function pageSeries(page: Exposition): PageSeries {
  const nameOf = namesOnPage(page.families.map(({ name }) => name));
  const reader = new SeriesReader(page, nameOf);
  for (const family of page.families) {
    if (family.type === 'histogram') reader.addHistogramFamily(family);
  }
  for (const family of page.families) {
    if (family.type !== 'histogram') reader.addScalarFamily(family);
  }
  reader.assignStartTimes();
  const histograms = reader.histograms();
  return {
    scalars: [...reader.scalars.values()],
    histograms,
    natives: nativePlaces(page, histograms, nameOf),
    startTimes: startTimesOf(reader.startTimes),
    untypedHistograms: [...reader.untyped.keys()],
    isOfRay: page.families.some(({ name }) => isOfRay(name)),
    omitsSums: reader.omitsSums,
  };
}

function nativePlaces(page: Exposition, classic: readonly HistogramPlace[], nameOf: NameOf): NativePlace[] {
  const places = new Map<string, NativePlace>();
  const known = new Set(
    page.nativeHistograms.length === 0 ? [] : classic.map(({ family, labels }) => seriesKey(family.name, labels)),
  );
  for (const { family: name, labels, histogram } of page.nativeHistograms) {
    const family = page.family(name);
    const key = seriesKey(nameOf(name), labels);
    if (family?.type === 'histogram' && !known.has(key))
      places.set(key, { family: histogramFacts(family, nameOf), labels, histogram });
  }
  return [...places.values()];
}

/** A single uptime on a page belongs to its process, whatever process its labels name. */
function startTimesOf(found: readonly StartTimePlace[]): StartTimePlace[] {
  const uptimes = found.filter(({ kind }) => kind === 'uptime');
  return found.map((place) => (place === uptimes[0] && uptimes.length === 1 ? { ...place, labels: {} } : place));
}

/** What families are called, given their names on the page. */
type NameOf = (name: string) => string;

/** A sample that may be the start time of the series with its labels. */
interface CreatedSample {
  readonly name: string;
  readonly labels: Labels;
  readonly row: number;
  readonly place: ScalarPlace;
}

const CREATED = '_created';

interface HistogramDraft {
  readonly family: FamilyFacts;
  readonly labels: Labels;
  /** Rows by the bound's text. */
  readonly buckets: Map<string, number>;
  sumRow: number;
  countRow: number;
}

class SeriesReader {
  readonly scalars = new Map<string, ScalarPlace>();
  readonly startTimes: StartTimePlace[] = [];
  /** Histograms without a TYPE by name. */
  readonly untyped: ReadonlyMap<string, FamilyFacts>;
  omitsSums = false;
  readonly #page: Exposition;
  readonly #nameOf: NameOf;
  readonly #histograms = new Map<string, HistogramDraft>();
  /** Names of the series that count, as their start times name them. */
  readonly #counting = new Set<string>();
  readonly #created: CreatedSample[] = [];

  constructor(page: Exposition, nameOf: NameOf) {
    this.#page = page;
    this.#nameOf = nameOf;
    this.untyped = untypedHistograms(page, nameOf);
    for (const { name } of this.untyped.values()) this.#counting.add(name);
  }

  histograms(): HistogramPlace[] {
    return [...this.#histograms.values()]
      .filter(({ buckets, sumRow, countRow }) => buckets.size > 0 || (sumRow >= 0 && countRow >= 0))
      .map(histogramPlace);
  }

  addHistogramFamily(family: MetricFamily): void {
    const facts = histogramFacts(family, this.#nameOf);
    this.#counting.add(facts.name);
    for (const row of family.rows) this.#addHistogramRow(family.name, facts, row);
  }

  addScalarFamily(family: MetricFamily): void {
    const { columns } = this.#page;
    const facts = new Map<string, FamilyFacts>();
    for (const row of family.rows) {
      const name = columns.names[columns.nameIds[row] as number] as string;
      const untyped = this.untyped.get(name.replace(HISTOGRAM_SUFFIX, ''));
      if (untyped !== undefined && HISTOGRAM_SUFFIX.test(name)) {
        this.#addHistogramRow(untyped.name, untyped, row);
        continue;
      }
      const setId = columns.labelSetIds[row] as number;
      const boundId = columns.boundIds[row] as number;
      let fact = facts.get(name);
      if (fact === undefined) {
        fact = scalarFacts(declaredFamily(this.#page, family, name), name, this.#nameOf);
        facts.set(name, fact);
      }
      const labels = boundId < 0 ? (columns.labelSets[setId] as Labels) : labelsOfRow(columns, row);
      const place = { family: fact, labels, row };
      if (mayBeCreated(name, family)) {
        this.#created.push({ name, labels, row, place });
        continue;
      }
      if (name === PROCESS_START) this.#pushStart(seriesKey(name, labels), labels, row, 'start', null);
      else if (isUptime(name)) this.#pushStart(seriesKey(name, labels), labels, row, 'uptime', null);
      if (fact.ofSummary) this.#counting.add(this.#nameOf(family.name));
      else if (fact.type === 'counter') this.#counting.add(fact.name);
      this.scalars.set(`${setId} ${boundId} ${name}`, place);
    }
  }

  /**
   * Start times of single series: samples named `_created` after a series that counts, in OpenMetrics (`x_created` of
   * `x_total`), in protobuf (`x_total_created`), and as the gauges that the Python client writes in the text format.
   */
  assignStartTimes(): void {
    for (const { name, labels, row, place } of this.#created) {
      const base = this.#nameOf(name.slice(0, -CREATED.length));
      const counting = [base, `${base}_total`].find((each) => this.#counting.has(each));
      if (counting === undefined) this.scalars.set(`${name} ${row}`, place);
      else this.#pushStart(startKey(counting, labels), labels, row, 'start', counting);
    }
  }

  #addHistogramRow(base: string, facts: FamilyFacts, row: number): void {
    const { columns } = this.#page;
    const name = columns.names[columns.nameIds[row] as number] as string;
    const setId = columns.labelSetIds[row] as number;
    const labels = columns.labelSets[setId] as Labels;
    const suffix = name.slice(base.length);
    if (suffix === CREATED) {
      this.#pushStart(startKey(facts.name, labels), labels, row, 'start', facts.name);
      return;
    }
    const key = `${setId} ${base}`;
    let draft = this.#histograms.get(key);
    if (draft === undefined) {
      draft = { family: facts, labels, buckets: new Map(), sumRow: -1, countRow: -1 };
      this.#histograms.set(key, draft);
    }
    const boundId = columns.boundIds[row] as number;
    if (suffix === '_sum' && labels['otel_scope_name'] === RAY_RECORDER) this.omitsSums = true;
    else if (suffix === '_sum') draft.sumRow = row;
    else if (suffix === '_count') draft.countRow = row;
    else if (boundId >= 0) draft.buckets.set(columns.bounds[boundId] as string, row);
  }

  #pushStart(key: string, labels: Labels, row: number, kind: StartTimePlace['kind'], family: string | null): void {
    this.startTimes.push({ key, row, kind, labels, family });
  }
}

const HISTOGRAM_SUFFIX = /_(bucket|sum|count)$/;

/** Not a counter of what was created. */
const mayBeCreated = (name: string, family: MetricFamily): boolean =>
  name.endsWith(CREATED) && (family.name !== name || family.type === 'gauge' || family.type === 'unknown');

/** Names without a TYPE whose samples have all three suffixes of a histogram, and the label `le`. */
function untypedHistograms({ families, columns }: Exposition, nameOf: NameOf): Map<string, FamilyFacts> {
  const untyped = new Map(families.filter(({ type }) => type === 'unknown').map((family) => [family.name, family]));
  const found = new Map<string, FamilyFacts>();
  for (const [name, family] of untyped) {
    const base = name.slice(0, -'_bucket'.length);
    if (!name.endsWith('_bucket') || !untyped.has(`${base}_count`)) continue;
    if (!family.rows.every((row) => (columns.boundIds[row] as number) >= 0)) continue;
    found.set(base, { name: nameOf(base), type: 'histogram', help: family.help, unit: null, ofSummary: false });
  }
  return found;
}

/**
 * The family whose TYPE and HELP belong to a sample. In OpenMetrics some releases of the Python client write `sglang_` for
 * `sglang:` in the samples, but not in the comments (prometheus/client_python issue 1177): the comments then stand in a
 * family without samples.
 */
function declaredFamily(page: Exposition, family: MetricFamily, name: string): MetricFamily {
  const native = nativeName(name);
  if (family.type !== 'unknown' || native === name) return family;
  const base = native.replace(/_(total|sum|count)$/, '');
  const declared = [page.family(native), page.family(base)].find((each) => each?.rows.length === 0);
  return declared ?? family;
}

function scalarFacts(family: MetricFamily, name: string, nameOf: NameOf): FamilyFacts {
  const ofSummary = family.type === 'summary';
  const type = ofSummary && name !== family.name ? 'counter' : TYPES[family.type];
  return { name: nameOf(name), type, help: family.help, unit: family.unit, ofSummary };
}

function histogramFacts({ name, help, unit }: MetricFamily, nameOf: NameOf): FamilyFacts {
  return { name: nameOf(name), type: 'histogram', help, unit, ofSummary: false };
}

/** Buckets whose bound is not a number are omitted; the others are cumulative and stay correct. */
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

/** The key of the start time of the series that count under a name. */
const startKey = (name: string, labels: Labels): string => seriesKey(name + CREATED, labels);

/** The name under which a series has its start time: that of a summary counts for its parts. */
export const countingName = ({ name, ofSummary }: FamilyFacts): string =>
  ofSummary ? name.replace(/_(sum|count)$/, '') : name;

/** The key of the start time of a series. */
export const startKeyOf = (family: FamilyFacts, labels: Labels): string => startKey(countingName(family), labels);

/** The same for the same labels in any order. */
export function seriesKey(name: string, labels: Labels): string {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `${name} ${JSON.stringify(pairs)}`;
}
