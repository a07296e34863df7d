/** A vector selector of an expression. */
export interface Selector {
  /** Empty when the selector has no metric name, as in `{__name__=~"x.+"}`. */
  readonly metric: string;
  readonly matchers: readonly Matcher[];
  /** Its position in the expression. */
  readonly index: number;
  /** The function that it is the argument of, with a range; null without a range. */
  readonly rangeFunction: string | null;
}

export interface Matcher {
  readonly label: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  /** Between the quotes, as it is written. */
  readonly value: string;
}

/** An aggregation with `by`, and the position of its argument. */
export interface Aggregation {
  readonly operator: string;
  readonly by: readonly string[];
  readonly start: number;
  readonly end: number;
}

const KEYWORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan', 'NaN', 'Inf']);
const LABEL_LISTS = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^()]*\)/g;

/** Same length, so that positions stay: what is in quotes could look like anything. */
export function maskStrings(expr: string): string {
  return expr.replaceAll(/"(?:[^"\\]|\\.)*"/g, (text) => `"${'·'.repeat(text.length - 2)}"`);
}

/** Same length, so that positions stay: Grafana's variables as numbers, or as durations where one is required. */
export function withoutVariables(expr: string): string {
  return maskStrings(expr).replaceAll(/([[:]\s*)?\$(?:\w+|\{\w+\})/g, (text, before: string = '') => {
    const length = text.length - before.length;
    return before + (before === '' ? '1'.repeat(length) : `${'1'.repeat(length - 1)}s`);
  });
}

function blank(text: string): string {
  return ' '.repeat(text.length);
}

/**
 * The vector selectors of a PromQL expression, in their order. Enough of the grammar for the queries of this project;
 * that an expression is valid is checked by a real Prometheus. It may contain Grafana variables.
 */
export function selectors(expr: string): readonly Selector[] {
  const masked = maskStrings(expr);
  const names = masked
    .replaceAll(LABEL_LISTS, blank)
    .replaceAll(/\[[^\]]*\]/g, blank)
    .replaceAll(/\$\{?\w+\}?/g, blank);
  const found: Selector[] = [];
  for (const match of names.matchAll(
    /(?<![\w.])([a-zA-Z_:][\w:]*)?(\{[^{}]*\})|(?<![\w.])([a-zA-Z_:][\w:]*)(?!\s*\(|[\w:]|\s*\{)/g,
  )) {
    const metric = match[1] ?? match[3] ?? '';
    if (match[2] === undefined && KEYWORDS.has(metric)) continue;
    const end = match.index + match[0].length;
    const braces = match[2] === undefined ? '' : expr.slice(end - match[2].length, end);
    const range = /^\s*\[/.test(masked.slice(end));
    const rangeFunction = range ? (/(\w+)\s*\(\s*$/.exec(masked.slice(0, match.index))?.[1] ?? '') : null;
    found.push({ metric, matchers: matchersOf(braces), index: match.index, rangeFunction });
  }
  return found;
}

function matchersOf(braces: string): Matcher[] {
  return [...braces.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)].map(
    ([, label = '', operator = '=', value = '']) => ({ label, operator: operator as Matcher['operator'], value }),
  );
}

/** The aggregations of an expression that have `by`. */
export function aggregations(expr: string): readonly Aggregation[] {
  const masked = maskStrings(expr);
  return [...masked.matchAll(/\b(\w+)\s+by\s*\(([^()]*)\)\s*\(/g)].map((match) => {
    const start = match.index + match[0].length;
    const by = (match[2] ?? '').split(',').map((label) => label.trim());
    return { operator: match[1] ?? '', by: by.filter(Boolean), start, end: closing(masked, start) };
  });
}

/** Position of the parenthesis that closes the one before `start`. */
function closing(masked: string, start: number): number {
  let depth = 1;
  for (let index = start; index < masked.length; index += 1) {
    if (masked[index] === '(') depth += 1;
    if (masked[index] === ')') depth -= 1;
    if (depth === 0) return index;
  }
  throw new Error(`a parenthesis is not closed: ${masked}`);
}
