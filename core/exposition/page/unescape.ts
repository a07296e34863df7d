/**
 * `\\`, `\"` and `\n` of label values and names; a backslash before any other character is literal, as in Prometheus.
 */
export function unescapeQuoted(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([\\"n])/g, (_, c: string) => (c === 'n' ? '\n' : c));
}

/** HELP of the text format: `\\` and `\n`. */
export function unescapeHelp(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([\\n])/g, (_, c: string) => (c === 'n' ? '\n' : c));
}
