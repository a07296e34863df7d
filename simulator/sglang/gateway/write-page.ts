import type { Family, Labels } from '../../metrics/family.ts';
import { plainNumber } from '../../metrics/plain-number.ts';
import { Histogram, Summary } from '../../metrics/series.ts';
import { escapeHelp, escapeLabelValue } from '../../metrics/text-escapes.ts';

/**
 * Writes a page as the Rust exporter `metrics-exporter-prometheus` does: labels in the order in which they were given, a
 * sum before its count, an empty line after each family. A family without series is not there.
 */
export function writePage(families: Iterable<Family>): string {
  let page = '';
  for (const family of families) {
    const text = samples(family);
    if (text === '') continue;
    page += `# HELP ${family.name} ${escapeHelp(family.help)}\n# TYPE ${family.name} ${family.type}\n${text}\n`;
  }
  return page;
}

function samples(family: Family): string {
  let text = '';
  for (const { labels, series } of family.entries()) {
    if (series instanceof Histogram) text += histogramLines(family.name, labels, series);
    else if (series instanceof Summary) throw new Error(`${family.name}: the page has no summaries`);
    else text += line(family.name, labels, series.value);
  }
  return text;
}

function histogramLines(name: string, labels: Labels, { counts, bounds, sum }: Histogram): string {
  let text = '';
  let cumulative = 0;
  for (const [i, count] of counts.entries()) {
    cumulative += count;
    text += line(`${name}_bucket`, { ...labels, le: plainNumber(bounds[i] ?? Infinity) }, cumulative);
  }
  return text + line(`${name}_sum`, labels, sum) + line(`${name}_count`, labels, cumulative);
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabelValue(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${plainNumber(value)}\n`;
}
