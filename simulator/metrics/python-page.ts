import type { Family, Labels } from './family.ts';
import { sortedLabelText } from './label-text.ts';
import { pythonNumber } from './python-number.ts';
import { Histogram, Summary } from './series.ts';
import { escapeHelp } from './text-escapes.ts';

/** How a page of the Python client differs when several processes write it. */
interface PageForm {
  /** A histogram begins with its sum, and ends with its count. */
  readonly multiprocess: boolean;
}

/**
 * Writes a page exactly as `generate_latest` of the Python client does, which is what vLLM
 * serves: labels sorted by name, numbers as floats, bucket bounds first, then count and sum, and the creation times of
 * counters, summaries and histograms as a gauge family of their own. Canonical writers order and format otherwise.
 */
export function pythonPage(families: Iterable<Family>): string {
  let page = '';
  for (const family of families) page += familyText(family, { multiprocess: false });
  return page;
}

/**
 * The same in the Python client's multiprocess mode, which SGLang, TensorRT-LLM and LMCache use.
 *
 * @param empty whether families without series show: those do that the process itself has made as well
 */
export function pythonMultiprocessPage(families: Iterable<Family>, empty: 'left out' | 'shown' = 'left out'): string {
  let page = '';
  for (const family of families) {
    const hasSeries = !family.entries()[Symbol.iterator]().next().done;
    if (hasSeries || empty === 'shown') page += familyText(family, { multiprocess: true });
  }
  return page;
}

function familyText(family: Family, form: PageForm): string {
  const { name, help, type } = family;
  let text = header(name, help, type);
  let created = '';
  const createdName = `${type === 'counter' ? name.replace(/_total$/, '') : name}_created`;
  for (const { labels, series } of family.entries()) {
    if (series instanceof Histogram) text += histogramLines(name, labels, series, form);
    else if (series instanceof Summary) text += countAndSum(name, labels, series);
    else text += line(name, labels, series.value);
    if (type !== 'gauge' && series.created_s !== null) created += line(createdName, labels, series.created_s);
  }
  return created === '' ? text : text + header(createdName, help, 'gauge') + created;
}

function header(name: string, help: string, type: string): string {
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
}

function histogramLines(name: string, labels: Labels, histogram: Histogram, { multiprocess }: PageForm): string {
  const sum = line(`${name}_sum`, labels, histogram.sum);
  let text = multiprocess ? sum : '';
  let cumulative = 0;
  for (const [i, count] of histogram.counts.entries()) {
    cumulative += count;
    text += line(`${name}_bucket`, { ...labels, le: pythonNumber(histogram.bounds[i] ?? Infinity) }, cumulative);
  }
  const count = line(`${name}_count`, labels, cumulative);
  return multiprocess ? text + count : text + count + sum;
}

function countAndSum(name: string, labels: Labels, { count, sum }: { count: number; sum: number }): string {
  return line(`${name}_count`, labels, count) + line(`${name}_sum`, labels, sum);
}

function line(name: string, labels: Labels, value: number): string {
  const text = sortedLabelText(labels);
  return `${name}${text === '' ? '' : `{${text}}`} ${pythonNumber(value)}\n`;
}
