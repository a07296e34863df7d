import type { Labels } from './exposition.ts';

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
