import { quoteForMessage } from '../exposition-error.ts';
import { formatCanonicalNumber } from './format-number.ts';
import { escapeQuoted } from '../label-text.ts';
import { parseGoFloat } from '../page/read-number.ts';
import { ExpositionWriteError } from './writer-input.ts';
import type { WriteOptions } from './writer-input.ts';

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** A metric name as it stands in HELP and TYPE lines. */
export function metricNameText(name: string, options: WriteOptions | undefined): string {
  if (METRIC_NAME.test(name)) return name;
  if (options?.utf8Names !== true || name === '' || !name.isWellFormed())
    throw new ExpositionWriteError(`not a metric name: ${quoteForMessage(name)}`);
  return `"${escapeQuoted(name)}"`;
}

/**
 * Name and labels of a sample. `numeric` is the label whose value is a number (`le`, `quantile`): it is written in the
 * canonical form of OpenMetrics in both formats, so that a series keeps its name whichever format is negotiated.
 */
export function seriesOf(
  name: string,
  labels: Readonly<Record<string, string>>,
  numeric: string | null,
  options: WriteOptions | undefined,
): string {
  const nameText = metricNameText(name, options);
  const pairs = labelPairs(labels, numeric, options);
  if (nameText !== name) pairs.unshift(nameText);
  const block = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  return nameText === name ? name + block : block;
}

/** The labels as `name="value"`. Lone surrogates, which UTF-8 cannot hold, become U+FFFD. */
export function labelPairs(
  labels: Readonly<Record<string, string>>,
  numeric: string | null,
  options: WriteOptions | undefined,
): string[] {
  return Object.entries(labels).map(([label, value]) => {
    const text = label === numeric ? canonicalLabelNumber(label, value) : value.toWellFormed();
    return `${labelNameText(label, options)}="${escapeQuoted(text)}"`;
  });
}

function labelNameText(label: string, options: WriteOptions | undefined): string {
  if (label.startsWith('__'))
    throw new ExpositionWriteError(`label names that start with "__" are reserved: ${quoteForMessage(label)}`);
  if (LABEL_NAME.test(label)) return label;
  if (options?.utf8Names !== true || label === '' || !label.isWellFormed())
    throw new ExpositionWriteError(`not a label name: ${quoteForMessage(label)}`);
  return `"${escapeQuoted(label)}"`;
}

function canonicalLabelNumber(label: string, value: string): string {
  const number = parseGoFloat(value);
  if (number === undefined || Number.isNaN(number))
    throw new ExpositionWriteError(`the label "${label}" is not a number: ${quoteForMessage(value)}`);
  return formatCanonicalNumber(number);
}
