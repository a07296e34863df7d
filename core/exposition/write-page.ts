import { quoteForMessage, escapeQuoted, type Exemplar } from './exposition.ts';

/** The two text formats. Sample lines are the same in both; the lines above them and the end of the page differ. */
export type PageFormat = 'text' | 'openmetrics';

export const CONTENT_TYPES: Readonly<Record<PageFormat, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** The metadata of a family, named as text 0.0.4 names it: a counter ends in `_total`. */
export interface FamilyMetadata {
  readonly name: string;
  /** Empty: no HELP line. */
  readonly help: string;
  /** `untyped` is written as OpenMetrics' `unknown`. */
  readonly type: 'counter' | 'gauge' | 'histogram' | 'untyped';
}

export interface FamilyInput extends FamilyMetadata {
  readonly samples: readonly SampleInput[];
}

export interface SampleInput {
  /** The name when it is not the family's own: `…_bucket`, `…_sum`, `…_count`. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Labels that many samples have in common, written first. Sharing the object makes writing faster. */
  readonly sharedLabels?: Readonly<Record<string, string>>;
  readonly value: number;
  /** Of a bucket or a counter; text 0.0.4 has none. */
  readonly exemplar?: Exemplar | undefined;
}

/** A family that cannot be written as a valid page; the message says which and why. */
export class ExpositionWriteError extends Error {
  override readonly name = 'ExpositionWriteError';
}

/** A whole page. Throws an `ExpositionWriteError` for an illegal name and for a second family of one name. */
export function writePage(families: readonly FamilyInput[], format: PageFormat): string {
  const names = new Set<string>();
  let page = '';
  for (const family of families) {
    if (names.has(family.name)) throw new ExpositionWriteError(`a second family ${quoteForMessage(family.name)}`);
    names.add(family.name);
    page += metadataLines(family, format) + sampleLines(family, format);
  }
  return page + endOfPage(format);
}

/** The end of a page in this format. */
export const endOfPage = (format: PageFormat): string => (format === 'openmetrics' ? '# EOF\n' : '');

/** The HELP and TYPE lines of a family. OpenMetrics names a counter without `_total`. */
export function metadataLines({ name: textName, help, type }: FamilyMetadata, format: PageFormat): string {
  const isOpen = format === 'openmetrics';
  const name = legalMetricName(isOpen && type === 'counter' ? textName.replace(/_total$/, '') : textName);
  const helpText = isOpen ? escapeQuoted(help.toWellFormed()) : escapeHelp(help);
  const typeText = isOpen && type === 'untyped' ? 'unknown' : type;
  return `${help === '' ? '' : `# HELP ${name} ${helpText}\n`}# TYPE ${name} ${typeText}\n`;
}

/**
 * The samples of a family, one line each: the same in both formats but for exemplars. Throws an `ExpositionWriteError` for
 * an illegal name.
 */
export function sampleLines({ name, samples }: Pick<FamilyInput, 'name' | 'samples'>, format?: PageFormat): string {
  let lines = '';
  let shared: SampleInput['sharedLabels'];
  let sharedText = '';
  for (const { metricName = name, labels, sharedLabels, value, exemplar } of samples) {
    if (sharedLabels !== shared) {
      shared = sharedLabels;
      sharedText = shared === undefined ? '' : labelPairs(shared);
    }
    const series = seriesWith(metricName, sharedText, labelPairs(labels));
    lines += `${series} ${valueText(value)}${format === 'openmetrics' ? exemplarText(exemplar) : ''}\n`;
  }
  return lines;
}

/** An exemplar as it follows a value in OpenMetrics (§4.6): ` # {trace_id="…"} 0.67 1520879607.789`; empty: there is none. */
export function exemplarText(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return '';
  const { labels, value, timestampSeconds } = exemplar;
  const time = timestampSeconds === null ? '' : ` ${timestampSeconds.toFixed(3)}`;
  return ` # {${labelPairs(labels)}} ${valueText(value)}${time}`;
}

/** A series as it begins its line: `name{label="value"}`, without braces when there are no labels. */
export function seriesStart(name: string, labels: Readonly<Record<string, string>>): string {
  return seriesWith(name, '', labelPairs(labels));
}

/** The shortest text that reads back as the same double. */
export function valueText(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  return Object.is(value, -0) ? '-0' : String(value);
}

function seriesWith(name: string, shared: string, own: string): string {
  const labels = shared === '' || own === '' ? shared + own : `${shared},${own}`;
  return labels === '' ? legalMetricName(name) : `${legalMetricName(name)}{${labels}}`;
}

function labelPairs(labels: Readonly<Record<string, string>>): string {
  let text = '';
  for (const name of Object.keys(labels)) {
    text += `${text === '' ? '' : ','}${legalLabelName(name)}="${escapeQuoted((labels[name] as string).toWellFormed())}"`;
  }
  return text;
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
/** Names that begin with `__` are reserved by Prometheus. */
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Whether a text can be the name of a metric in the text formats. */
export const isMetricName = (text: string): boolean => METRIC_NAME.test(text);

/** Whether a text can be the name of a label that a page writes. */
export const isLabelName = (text: string): boolean => LABEL_NAME.test(text);

const PAGE_TYPES = ['counter', 'gauge', 'histogram'] as const;

/** The type of a family on a page that is written again; `untyped` for what is unknown or is written by no page. */
export const pageType = (type: string | null): FamilyMetadata['type'] =>
  PAGE_TYPES.find((each) => each === type) ?? 'untyped';

function legalMetricName(name: string): string {
  if (!isMetricName(name)) throw new ExpositionWriteError(`${quoteForMessage(name)} is not a metric name`);
  return name;
}

function legalLabelName(name: string): string {
  if (!isLabelName(name)) throw new ExpositionWriteError(`${quoteForMessage(name)} is not a label name`);
  return name;
}

/** Lone surrogates, which UTF-8 cannot hold, become U+FFFD. */
function escapeHelp(help: string): string {
  return help.toWellFormed().replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

/**
 * A value as Go's shortest form `%g` writes it, which Prometheus' own libraries use and all its parsers read:
 * `1`, `0.005`, `1e+06`, `1.5e-05`, `+Inf`, `-Inf`, `NaN`. It reads back as the same double.
 */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/**
 * The canonical form of OpenMetrics for `le` and `quantile`: as `formatNumber`, and with `.0` when that looks like an
 * integer: `1.0`, `1e+06`, `+Inf`.
 */
export function formatCanonicalNumber(value: number): string {
  const text = formatNumber(value);
  return /^-?[0-9]+$/.test(text) ? `${text}.0` : text;
}
