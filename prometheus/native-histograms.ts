import { parser } from '@prometheus-io/lezer-promql';
import { isMap, isScalar, parseDocument, visit } from 'yaml';
import { knownMetrics, type KnownMetric } from './known-metrics.ts';
import { withoutVariables } from './promql.ts';

type Node = ReturnType<typeof parser.parse>['topNode'];

const COMPARISONS: ReadonlySet<string> = new Set(['Gtr', 'Gte', 'Lss', 'Lte', 'EqlC', 'Neq']);
const OVERFLOW = '+Inf';

/**
 * The same query for a Prometheus that stores classic histograms, native ones, or both: a series of a classic histogram is
 * read if it is there, otherwise the native histogram with its labels, so that none counts twice. Requires the functions for
 * native histograms of Prometheus 3. Comparisons of bucket counts stay: a native histogram has no series for a bucket.
 * The query may contain Grafana variables. Throws an error if it is not PromQL.
 */
export function withNativeHistograms(expr: string, known: ReadonlyMap<string, KnownMetric>): string {
  let text = expr;
  for (const { from, to, native, isOperand } of reads(expr, known).reverse()) {
    const either = `${text.slice(from, to)} or ${native}`;
    text = text.slice(0, from) + (isOperand ? `(${either})` : either) + text.slice(to);
  }
  return text;
}

/** A call that reads a classic histogram. */
interface Read {
  readonly from: number;
  readonly to: number;
  /** What reads the same from native histograms: the right side of `or`. */
  readonly native: string;
  /** Whether an operator precedes or follows the call, which could bind tighter than `or`. */
  readonly isOperand: boolean;
}

function reads(expr: string, known: ReadonlyMap<string, KnownMetric>): Read[] {
  const found: Read[] = [];
  parser.parse(withoutVariables(expr)).iterate({
    enter: ({ node, type, from, to }) => {
      if (type.isError) throw new Error(`not PromQL from "${expr.slice(from)}" on: ${expr}`);
      const native = type.name === 'FunctionCall' ? nativeRead(node, expr, known) : null;
      if (native !== null) found.push({ from, to, native, isOperand: node.parent?.name !== 'FunctionCallBody' });
    },
  });
  return found;
}

/** For a call such as `rate(x_bucket[5m])`; null if it reads no histogram. */
function nativeRead(call: Node, expr: string, known: ReadonlyMap<string, KnownMetric>): string | null {
  const range = call.getChild('FunctionCallBody')?.firstChild;
  const selector = range?.getChild('VectorSelector');
  const name = selector?.getChild('Identifier');
  if (!selector || !name) return null;
  const metric = expr.slice(name.from, name.to);
  const facts = known.get(metric);
  if (facts?.type !== 'histogram' || facts.family === metric || isCompared(call)) return null;

  const matchers = matchersOf(selector, expr);
  const others = matchers.filter(({ label }) => label !== 'le').map(({ text }) => text);
  const braces = others.length === 0 ? '' : `{${others.join(',')}}`;
  const histogram = expr.slice(call.from, name.from) + facts.family + braces + expr.slice(selector.to, call.to);
  if (metric.endsWith('_count')) return `histogram_count(${histogram})`;
  if (metric.endsWith('_sum')) return `histogram_sum(${histogram})`;
  const bound = matchers.find(({ label }) => label === 'le');
  if (bound === undefined) return `ignoring (le) ${histogram}`;
  // All finite bounds: a native histogram has no series for them.
  if (bound.operator === '!=' && bound.value === OVERFLOW) return null;
  if (bound.operator === '=') return `ignoring (le) ${below(bound.value, histogram)}`;
  return `ignoring (le) (${buckets(bound, facts, histogram)})`;
}

/** How many observations are at or below a bound; nothing if the bound is a variable without a value. */
function below(bound: string, histogram: string): string {
  const all = `histogram_count(${histogram})`;
  if (bound === OVERFLOW) return all;
  // A share of nothing is NaN, and would make each sum with it NaN.
  const share = (limit: string): string => `histogram_fraction(-Inf, ${limit}, ${histogram}) * (${all} > 0)`;
  return bound.startsWith('$') ? `(${share(`${bound} + 0`)} and on () (vector(${bound} + 0) > 0))` : share(bound);
}

/** The buckets of a native histogram as series, at the bounds that the server has by default. */
function buckets({ operator, value }: LabelMatcher, { family, bounds }: KnownMetric, histogram: string): string {
  if (operator !== '=~' || bounds === undefined)
    throw new Error(`${family}: the bounds le${operator}"${value}" are unknown`);
  const selected = new RegExp(`^(?:${JSON.parse(`"${value}"`) as string})$`);
  return [...bounds.map(String), OVERFLOW]
    .filter((bound) => selected.test(bound))
    .map((bound) => `label_replace(${below(bound, histogram)}, "le", "${bound}", "le", "")`)
    .join(' or ');
}

interface LabelMatcher {
  readonly label: string;
  readonly operator: string;
  /** Between the quotes, as it is written. */
  readonly value: string;
  readonly text: string;
}

function matchersOf(selector: Node, expr: string): LabelMatcher[] {
  return (selector.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) => {
    const part = (name: string): string => {
      const node = matcher.getChild(name);
      return node === null ? '' : expr.slice(node.from, node.to);
    };
    const text = expr.slice(matcher.from, matcher.to);
    return { label: part('LabelName'), operator: part('MatchOp'), value: part('StringLiteral').slice(1, -1), text };
  });
}

/** Whether the value, added up or not, is compared before a function takes it. */
function isCompared(call: Node): boolean {
  for (let node = call.parent; node !== null; node = node.parent) {
    if (node.name === 'FunctionCall') return false;
    const isComparison = [...COMPARISONS].some((operator) => node?.getChild(operator));
    if (node.name === 'BinaryExpr' && isComparison) return true;
  }
  return false;
}

/**
 * Recording rules, in YAML, as they read classic and native histograms. The recorded series keep their names: of a native
 * histogram `…_bucket:rate` is one native histogram without `le`. `source` is the file that the YAML is from.
 */
export function renderNativeRules(yaml: string, source: string): string {
  const known = knownMetrics();
  const document = parseDocument(yaml);
  visit(document, {
    Pair: (_, { key, value }) => {
      if (!isScalar(key) || key.value !== 'expr' || !isScalar(value) || typeof value.value !== 'string') return;
      value.value = withNativeHistograms(value.value, known);
    },
  });
  if (!isMap(document.contents)) throw new Error(`${source}: no groups of rules`);
  return `# Of ${source}, for a Prometheus 3 that stores native histograms, classic ones, or both. Generated by
# \`node prometheus/generate.ts\`.
#
${document.toString({ lineWidth: 0, flowCollectionPadding: true })}`;
}

/**
 * Which histograms the queries of a dashboard read: classic ones, as every Prometheus and VictoriaMetrics have them, or
 * either kind, which requires Prometheus 3.
 */
export type Histograms = 'classic' | 'either';
