import type { NativeHistogram } from '../histogram/native/native-histogram.ts';

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
