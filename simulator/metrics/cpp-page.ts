import type { Family, Labels } from './family.ts';
import { sortedLabelText } from './label-text.ts';
import { Histogram, Summary } from './series.ts';
import { escapeHelp } from './text-escapes.ts';
import { WindowedSummary } from './windowed-summary.ts';

/**
 * Writes a page as `TextSerializer` of prometheus-cpp does, which Triton serves: labels sorted, `quantile` and `le`
 * last; count and sum before quantiles and buckets; numbers as `%.16g`, except `Nan`; families without series left out.
 */
export function cppPage(families: Iterable<Family>): string {
  let page = '';
  for (const family of families) page += familyText(family);
  return page;
}

function familyText(family: Family): string {
  const { name, help, type } = family;
  let lines = '';
  for (const { labels, series } of family.entries()) {
    if (series instanceof Histogram) lines += histogramLines(name, labels, series);
    else if (series instanceof Summary) lines += summaryLines(name, labels, series);
    else lines += line(name, sortedLabelText(labels), series.value);
  }
  return lines === '' ? '' : `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines}`;
}

function histogramLines(name: string, labels: Labels, { counts, bounds, count, sum }: Histogram): string {
  const own = sortedLabelText(labels);
  let text = line(`${name}_count`, own, count) + line(`${name}_sum`, own, sum);
  let cumulative = 0;
  for (const [i, inBucket] of counts.entries()) {
    cumulative += inBucket;
    text += line(`${name}_bucket`, withLabel(own, 'le', cppNumber(bounds[i] ?? Infinity)), cumulative);
  }
  return text;
}

function summaryLines(name: string, labels: Labels, summary: Summary): string {
  const own = sortedLabelText(labels);
  let text = line(`${name}_count`, own, summary.count) + line(`${name}_sum`, own, summary.sum);
  if (!(summary instanceof WindowedSummary)) return text;
  const values = summary.quantileValues();
  for (const [i, quantile] of WindowedSummary.quantiles.entries()) {
    text += line(name, withLabel(own, 'quantile', cppNumber(quantile)), values[i] ?? NaN);
  }
  return text;
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${cppNumber(value)}\n`;
}

function withLabel(labels: string, name: string, value: string): string {
  return `${labels === '' ? '' : `${labels},`}${name}="${value}"`;
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
