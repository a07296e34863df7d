/** `\\`, `\"` and `\n` of label values and names; a backslash before anything else stands for itself, as in Prometheus. */
export function unescapeQuoted(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([\\"n])/g, (_, c: string) => (c === 'n' ? '\n' : c));
}

/** HELP of the text format: `\\` and `\n`. */
export function unescapeHelp(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([\\n])/g, (_, c: string) => (c === 'n' ? '\n' : c));
}
