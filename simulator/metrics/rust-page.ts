import type { Family } from './family.ts';
import { sortedLabelText } from './label-text.ts';
import { plainNumber } from './plain-number.ts';
import { Histogram, Summary } from './series.ts';
import { escapeHelp } from './text-escapes.ts';

/**
 * Writes one registry as `TextEncoder` of the Rust prometheus crate does, which Dynamo and KVBM serve: families by
 * name, those without series left out; series by the values of their labels; labels sorted, `le` last; a sum before
 * its count; no creation times.
 */
export function rustPage(families: Iterable<Family>): string {
  const byName = [...families].sort((a, b) => (a.name < b.name ? -1 : 1));
  return byName.map(familyText).join('');
}

function familyText(family: Family): string {
  const { name, help, type } = family;
  const entries = [...family.entries()].map(({ labels, series }) => ({ text: sortedLabelText(labels), series }));
  if (entries.length === 0) return '';
  entries.sort((a, b) => (a.text < b.text ? -1 : 1));
  let text = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
  for (const { text: labels, series } of entries) {
    if (series instanceof Histogram) text += histogramLines(name, labels, series);
    else if (series instanceof Summary) throw new Error(`${name}: the page has no summaries`);
    else text += `${name}${braces(labels)} ${plainNumber(series.value)}\n`;
  }
  return text;
}

function histogramLines(name: string, labels: string, { counts, bounds, sum }: Histogram): string {
  const before = labels === '' ? '' : `${labels},`;
  let text = '';
  let cumulative = 0;
  for (const [i, count] of counts.entries()) {
    cumulative += count;
    text += `${name}_bucket{${before}le="${plainNumber(bounds[i] ?? Infinity)}"} ${cumulative}\n`;
  }
  return `${text}${name}_sum${braces(labels)} ${plainNumber(sum)}\n${name}_count${braces(labels)} ${cumulative}\n`;
}

function braces(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}
