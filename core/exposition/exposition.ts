import type { NativeHistogram } from '../histogram/native-histogram.ts';
import { classicHistogram, parseBound, type ClassicHistogram } from '../histogram/classic-histogram.ts';

/** The formats that are read; all but protobuf are written too. */
export type ExpositionFormat = 'text-0.0.4' | 'openmetrics-1.0.0' | 'protobuf';

/** OpenMetrics' names of the types. `untyped` of the text format is `unknown`. */
export type MetricType =
  'counter' | 'gauge' | 'histogram' | 'gaugehistogram' | 'summary' | 'info' | 'stateset' | 'unknown';

/**
 * Label names to values as written in the page. No prototype, frozen, shared between samples: any name is plain data.
 */
export type Labels = Readonly<Record<string, string>>;

/** The example that a bucket or a counter carries (OpenMetrics). */
export interface Exemplar {
  readonly labels: Labels;
  readonly value: number;
  readonly timestampSeconds: number | null;
}

export interface Sample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
  /** Unix time in seconds (the text format's milliseconds divided by 1000), null without one. */
  readonly timestampSeconds: number | null;
  readonly exemplar: Exemplar | null;
}

/** One family: its metadata and the samples that belong to it, in the order of the page. */
export interface MetricFamily {
  /** The name of the TYPE line, or of the samples without one. */
  readonly name: string;
  readonly type: MetricType;
  /** null: not on the page. */
  readonly help: string | null;
  /** OpenMetrics only. */
  readonly unit: string | null;
  /** Rows of `Exposition.columns`, ascending. */
  readonly rows: Int32Array;
  /** The same as objects, made on first use: for few samples; loops over big pages use the columns. */
  readonly samples: readonly Sample[];
}

/**
 * All samples of a page as columns; row i is the i-th sample. The dictionaries may hold entries that no row uses.
 * The label `le` of a `…_bucket` sample is apart from the other labels, so that a histogram's rows share one label set.
 */
export interface SampleColumns {
  readonly count: number;
  readonly names: readonly string[];
  readonly nameIds: Int32Array;
  /** Without the `le` of `…_bucket` samples. */
  readonly labelSets: readonly Labels[];
  readonly labelSetIds: Int32Array;
  /** Values of the label `le` as written. */
  readonly bounds: readonly string[];
  /** −1: not a `…_bucket` sample, or one without `le`. */
  readonly boundIds: Int32Array;
  readonly values: Float64Array;
  /** NaN: none; null: no sample of the page has one. */
  readonly timestampsSeconds: Float64Array | null;
  readonly exemplars: ReadonlyMap<number, Exemplar>;
}

/** One series of a native histogram. When it is a classic one as well, its buckets are samples of the family too. */
export interface NativeHistogramSample {
  /** Name of its family. */
  readonly family: string;
  readonly labels: Labels;
  readonly histogram: NativeHistogram;
  /** Unix seconds, null without one. */
  readonly createdSeconds: number | null;
  readonly timestampSeconds: number | null;
  readonly exemplars: readonly Exemplar[];
}

/** Samples that duplicate the name and labels (and time) of an earlier one: the first is used, these are omitted. */
export interface Duplicates {
  readonly count: number;
  /** At most 10. */
  readonly examples: readonly { readonly line: number; readonly series: string }[];
}

export interface Exposition {
  readonly format: ExpositionFormat;
  /** Why this format was assumed when the content type was missing or unknown; else null. */
  readonly formatFallback: string | null;
  readonly columns: SampleColumns;
  /** In the order of first appearance; families without samples included. */
  readonly families: readonly MetricFamily[];
  family(name: string): MetricFamily | undefined;
  /** In the order of the page; protobuf only. */
  readonly nativeHistograms: readonly NativeHistogramSample[];
  readonly duplicates: Duplicates;
  /** True: the last line has no line feed; if the length of the transfer was not checked, the page may be truncated. */
  readonly missingFinalNewline: boolean;
  /** HELP, TYPE or UNIT lines beyond the first of their kind for a name: ignored. */
  readonly repeatedMetadata: number;
}

const MAX_ECHO_CHARACTERS = 60;

/**
 * A page that is rejected as a whole: where and why. The message is one line and shows at most 80 characters of the
 * page.
 */
export class ExpositionError extends Error {
  /** 1-based; 0 when the error is not in one line. */
  readonly line: number;
  /** 1-based, in bytes; 0 when the error is not at one place. */
  readonly column: number;
  readonly reason: string;

  constructor(line: number, column: number, reason: string) {
    super(line > 0 ? `line ${line}, column ${column}: ${reason}` : reason);
    this.name = 'ExpositionError';
    this.line = line;
    this.column = column;
    this.reason = reason;
  }
}

/** Text of a page for use in a message: quoted, control characters escaped, truncated. */
export function quoteForMessage(text: string): string {
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replace(/[^\x20-\x7e]/gu, '?');
  return escaped.length > MAX_ECHO_CHARACTERS ? `"${escaped.slice(0, MAX_ECHO_CHARACTERS)}"…` : `"${escaped}"`;
}

/** Limits of one page: exceeding one rejects the whole page. Lengths are bytes of UTF-8. */
export interface ParseLimits {
  readonly maxBytes: number;
  readonly maxSamples: number;
  /** Labels of one sample, its name not counted. */
  readonly maxLabels: number;
  /** Also of metric names. */
  readonly maxLabelNameBytes: number;
  readonly maxLabelValueBytes: number;
}

const DEFAULT_PARSE_LIMITS: ParseLimits = {
  maxBytes: 128 * 1024 * 1024,
  maxSamples: 2_000_000,
  maxLabels: 128,
  maxLabelNameBytes: 1024,
  maxLabelValueBytes: 64 * 1024,
};

export interface ParseOptions {
  readonly limits?: Partial<ParseLimits>;
}

export function parseLimits(options: ParseOptions | undefined): ParseLimits {
  return { ...DEFAULT_PARSE_LIMITS, ...options?.limits };
}

/** Suffixes that a family's name takes in the names of its samples (OpenMetrics 1.0; '' = the name itself). */
export const FAMILY_SUFFIXES: Readonly<Record<MetricType, readonly string[]>> = {
  counter: ['_total', '_created'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum', '_created'],
  gaugehistogram: ['_bucket', '_gcount', '_gsum'],
  summary: ['', '_count', '_sum', '_created'],
  info: ['_info'],
  stateset: [''],
  unknown: [''],
};

const ALL_SUFFIXES = [...new Set(Object.values(FAMILY_SUFFIXES).flat())].filter((suffix) => suffix !== '');

/** The family that a sample belongs to: of its own name when that has a TYPE, else of a typed name that it extends. */
export function familyOfSample(name: string, types: ReadonlyMap<string, MetricType>): string {
  if (types.has(name)) return name;
  for (const suffix of ALL_SUFFIXES) {
    if (!name.endsWith(suffix)) continue;
    const base = name.slice(0, -suffix.length);
    const type = types.get(base);
    if (type !== undefined && FAMILY_SUFFIXES[type].includes(suffix)) return base;
  }
  return name;
}

/** Escapes a label value or a quoted name. */
export function escapeQuoted(text: string): string {
  return text.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));
}

/** A series in PromQL notation, for messages: one line, truncated at 200 characters. */
export function seriesText(name: string, labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escapeQuoted(value)}"`);
  const text = pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

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
