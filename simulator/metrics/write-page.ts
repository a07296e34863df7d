import { Histogram, Summary, WindowedSummary } from './family.ts';
import type { Family, Labels, Series } from './family.ts';

/** How a client library writes the text format. */
export interface PageFormat {
  /** A sample value, and a bound in a label. */
  readonly number: (value: number) => string;
  /** The lines of a histogram, and of a summary, in this order. */
  readonly order: readonly ('buckets' | 'sum' | 'count')[];
  readonly labels: 'sorted' | 'as given';
  /** Where `le` and `quantile` stand among the labels. */
  readonly bound: 'sorted' | 'last';
  /** Families in the order of the page, or sorted; by name means the series by their labels as well. */
  readonly families: 'as given' | 'by name';
  /** Whether families without series show. */
  readonly showsEmpty: boolean;
  /** Whether creation times, of series that have one, are a gauge family of their own. */
  readonly showsCreated: boolean;
  readonly afterFamily: string;
}

/** `generate_latest` of the Python client, which vLLM serves. */
const PYTHON: PageFormat = {
  number: pythonNumber,
  order: ['buckets', 'count', 'sum'],
  labels: 'sorted',
  bound: 'sorted',
  families: 'as given',
  showsEmpty: true,
  showsCreated: true,
  afterFamily: '',
};

/** The same when several processes write: SGLang and TensorRT-LLM. */
const PYTHON_MULTIPROCESS: PageFormat = { ...PYTHON, order: ['sum', 'buckets', 'count'], showsEmpty: false };

/** LMCache, whose families the process itself has made as well. */
const LMCACHE: PageFormat = { ...PYTHON_MULTIPROCESS, showsEmpty: true };

/** `TextEncoder` of the Rust prometheus crate, for one registry: Dynamo and KVBM. */
const RUST: PageFormat = {
  number: plainNumber,
  order: ['buckets', 'sum', 'count'],
  labels: 'sorted',
  bound: 'last',
  families: 'by name',
  showsEmpty: false,
  showsCreated: false,
  afterFamily: '',
};

/** `TextSerializer` of prometheus-cpp: Triton. */
const CPP: PageFormat = { ...RUST, number: cppNumber, order: ['count', 'sum', 'buckets'], families: 'as given' };

/** The Rust crate `metrics-exporter-prometheus`: SGLang's gateway. */
const RUST_EXPORTER: PageFormat = { ...RUST, labels: 'as given', families: 'as given', afterFamily: '\n' };

/** The template of the DCGM exporter, in Go. */
const GO: PageFormat = { ...RUST_EXPORTER, number: goNumber, showsEmpty: true, afterFamily: '' };

export const FORMATS = { PYTHON, PYTHON_MULTIPROCESS, LMCACHE, RUST, CPP, RUST_EXPORTER, GO };

/** Writes a page exactly as a client library does; canonical writers order and format otherwise. */
export function writePage(families: Iterable<Family>, format: PageFormat): string {
  const ordered = [...families];
  if (format.families === 'by name') ordered.sort((a, b) => (a.name < b.name ? -1 : 1));
  return ordered.map((family) => familyText(family, format)).join('');
}

function familyText(family: Family, format: PageFormat): string {
  const { name, help, type } = family;
  const createdName = `${type === 'counter' ? name.replace(/_total$/, '') : name}_created`;
  let created = '';
  const all: { readonly labels: string; readonly lines: string }[] = [];
  for (const { labels, series } of family.entries()) {
    const texts = labelTexts(labels, series instanceof Histogram ? 'le' : 'quantile', format);
    all.push({ labels: texts.plain, lines: seriesLines(name, texts, series, format) });
    if (!format.showsCreated || type === 'gauge' || series.created_s === null) continue;
    created += `${createdName}${texts.plain} ${format.number(series.created_s)}\n`;
  }
  if (all.length === 0 && !format.showsEmpty) return '';
  if (format.families === 'by name') all.sort((a, b) => (a.labels < b.labels ? -1 : 1));
  const text = header(name, help, type) + all.map(({ lines }) => lines).join('') + format.afterFamily;
  return created === '' ? text : text + header(createdName, help, 'gauge') + created;
}

function header(name: string, help: string, type: string): string {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${escaped}\n# TYPE ${name} ${type}\n`;
}

function seriesLines(name: string, labels: LabelTexts, series: Series, { number, order }: PageFormat): string {
  const line = (suffix: string, text: string, value: number): string => `${name}${suffix}${text} ${number(value)}\n`;
  if (!(series instanceof Histogram || series instanceof Summary)) return line('', labels.plain, series.value);
  const parts = { buckets: '', sum: line('_sum', labels.plain, series.sum), count: '' };
  if (series instanceof Histogram) {
    let cumulative = 0;
    for (const [i, count] of series.counts.entries()) {
      cumulative += count;
      parts.buckets += line('_bucket', labels.withBound(number(series.bounds[i] ?? Infinity)), cumulative);
    }
  } else if (series instanceof WindowedSummary) {
    const values = series.quantileValues();
    for (const [i, quantile] of WindowedSummary.quantiles.entries()) {
      parts.buckets += line('', labels.withBound(number(quantile)), values[i] ?? NaN);
    }
  }
  parts.count = line('_count', labels.plain, series.count);
  return order.map((part) => parts[part]).join('');
}

interface LabelTexts {
  readonly plain: string;
  readonly withBound: (value: string) => string;
}

/** The labels of a series as text, alone and with the label of a bucket or quantile. */
function labelTexts(labels: Labels, boundLabel: 'le' | 'quantile', format: PageFormat): LabelTexts {
  const pairs = Object.entries(labels);
  if (format.labels === 'sorted') pairs.sort(([a], [b]) => (a < b ? -1 : 1));
  const texts = pairs.map(([name, value]) => `${name}="${escapeLabelValue(value)}"`);
  const at = format.bound === 'last' ? pairs.length : pairs.filter(([name]) => name < boundLabel).length;
  const before = texts.slice(0, at).map((text) => `${text},`);
  const after = texts.slice(at).map((text) => `,${text}`);
  return {
    plain: texts.length === 0 ? '' : `{${texts.join(',')}}`,
    withBound: (value) => `{${before.join('')}${boundLabel}="${value}"${after.join('')}}`,
  };
}

/** A label value as the text format 0.0.4 wants it. */
export function escapeLabelValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

/**
 * A sample value or bucket bound as the Python client writes it (`prometheus_client.utils.floatToGoString`): always
 * a float (`1.0`), an exponent from a million up (`1.5e+06`), Python's `repr` below a ten-thousandth (`5e-05`).
 */
export function pythonNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const text = pythonRepr(value);
  const dot = text.indexOf('.');
  if (value <= 0 || dot <= 6) return text;
  const mantissa = `${text[0]}.${text.slice(1, dot)}${text.slice(dot + 1)}`.replace(/[0.]+$/, '');
  return `${mantissa}e+${String(dot - 1).padStart(2, '0')}`;
}

/** `repr` of a Python float: the shortest digits that read back, with an exponent below 1e-4 and from 1e16. */
function pythonRepr(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** A number as Rust's `{}` writes it: the shortest digits that read back, never an exponent, `5` and not `5.0`. */
export function plainNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign = '', first = '', rest = '', power = ''] = match;
  const digits = first + rest;
  const exponent = Number(power);
  return exponent < 0 ? `${sign}0.${'0'.repeat(-exponent - 1)}${digits}` : `${sign}${digits.padEnd(exponent + 1, '0')}`;
}

const SIGNIFICANT_DIGITS = 16;

/** A sample value as prometheus-cpp writes it: `%.16g`, but `Nan`, `+Inf` and `-Inf`. */
export function cppNumber(value: number): string {
  if (Number.isNaN(value)) return 'Nan';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return '0';
  const [digits = '', power = ''] = value.toExponential(SIGNIFICANT_DIGITS - 1).split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < SIGNIFICANT_DIGITS) {
    const text = value.toFixed(SIGNIFICANT_DIGITS - 1 - exponent);
    return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  }
  const mantissa = digits.replace(/\.?0+$/, '');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** A whole number as it is, any other with six digits after the point: as Go's `%d` and `%f`. */
function goNumber(value: number): string {
  return Number.isInteger(value) ? `${value}` : value.toFixed(6);
}
