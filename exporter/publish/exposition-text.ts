import type { Sample } from './family.ts';

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');

/** The lines that begin a family; they and the sample lines below are the same in text 0.0.4 and in OpenMetrics 1.0. */
export function familyHead(name: string, help: string, type: string): string {
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
}

/** One sample as a line; the value as the shortest text that reads back as the same double. */
export function sampleLine(name: string, { metricName, labels, sharedLabels, value }: Sample): string {
  const pairs = Object.entries({ ...sharedLabels, ...labels }).map(
    ([label, text]) => `${label}="${escapeLabel(text)}"`,
  );
  const labelText = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  return `${metricName ?? name}${labelText} ${valueText(value)}\n`;
}

function valueText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}
