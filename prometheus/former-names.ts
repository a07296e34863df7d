import { parser } from '@prometheus-io/lezer-promql';
import { isScalar, parseDocument, visit } from 'yaml';
import { formerNames, type FormerName } from '../catalog/former-names.ts';
import { withoutVariables } from './promql.ts';

type Node = ReturnType<typeof parser.parse>['topNode'];

/** What the samples of a histogram or summary append to the name of its family. */
const SUFFIX = /_(bucket|sum|count)$/;

/** Labels of a sample that are no labels of its family. */
const SAMPLE_LABELS = ['job', 'instance', 'le', 'quantile'];

/**
 * The same query for every release of the servers: what reads a family reads its former names where the current one has no
 * series. A name that the query has already is not added, so that applying it twice changes nothing. The query may contain
 * Grafana variables.
 */
export function withFormerNames(expr: string): string {
  let text = expr;
  for (const { from, to, former, isOperand } of reads(expr).reverse()) {
    const either = [text.slice(from, to), ...former].join(' or ');
    text = text.slice(0, from) + (isOperand ? `(${either})` : either) + text.slice(to);
  }
  return text;
}

/** Rules, in YAML, whose expressions read former names as well; all else stays as it is written. */
export function rulesWithFormerNames(yaml: string): string {
  const expressions: (readonly [from: number, to: number])[] = [];
  visit(parseDocument(yaml), {
    Pair: (_, { key, value }) => {
      if (!isScalar(key) || key.value !== 'expr' || !isScalar(value) || !value.range) return;
      const [from, to] = value.range;
      // A block begins with an indicator and a line break; its indentation is no part of PromQL.
      expressions.push([from + (/^[|>][-+]?\n/.exec(yaml.slice(from, to))?.[0].length ?? 0), to]);
    },
  });
  return expressions.reduceRight(
    (text, [from, to]) => text.slice(0, from) + withFormerNames(text.slice(from, to)) + text.slice(to),
    yaml,
  );
}

/** A part of a query that reads one family. */
interface Read {
  readonly from: number;
  readonly to: number;
  /** What reads the former names. */
  readonly former: readonly string[];
  /** Whether an operator precedes or follows, which could bind tighter than `or`. */
  readonly isOperand: boolean;
}

function reads(expr: string): Read[] {
  const found: Read[] = [];
  parser.parse(withoutVariables(expr)).iterate({
    enter: ({ node, type }) => {
      const name = type.name === 'VectorSelector' ? node.getChild('Identifier') : null;
      if (name === null) return;
      const metric = expr.slice(name.from, name.to);
      const suffix = formerNames(metric).length > 0 ? '' : (SUFFIX.exec(metric)?.[0] ?? '');
      const read = wholeRead(node);
      const former = formerNames(metric.slice(0, metric.length - suffix.length))
        .filter(({ name: before }) => !mentions(expr, before + suffix))
        .map((before) => {
          const either = expr.slice(read.from, node.from) + selectorOf(node, before, suffix, expr);
          const text = either + expr.slice(node.to, read.to);
          return before.mayDiffer ? `(${text} unless on (job, instance) ${expr.slice(read.from, read.to)})` : text;
        });
      if (former.length > 0) found.push({ from: read.from, to: read.to, former, isOperand: !isArgument(read) });
    },
  });
  return found;
}

/** Of a selector with a range the call that takes it, else the selector. */
function wholeRead(selector: Node): Node {
  let node = selector;
  if (selector.parent?.name !== 'MatrixSelector') return selector;
  while (node.parent !== null && node.name !== 'FunctionCall') node = node.parent;
  return node;
}

function isArgument({ parent }: Node): boolean {
  return parent === null || parent.name === 'PromQL' || parent.name === 'FunctionCallBody';
}

/** The selector with the former name, narrowed by those labels that the former family has. */
function selectorOf(selector: Node, { name, labels }: FormerName, suffix: string, expr: string): string {
  const matchers = selector.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
  const kept = matchers.filter((matcher) => {
    const label = matcher.getChild('LabelName');
    return label !== null && [...labels, ...SAMPLE_LABELS].includes(expr.slice(label.from, label.to));
  });
  const braces = kept.map(({ from, to }) => expr.slice(from, to)).join(',');
  return name + suffix + (braces === '' ? '' : `{${braces}}`);
}

function mentions(expr: string, metric: string): boolean {
  return new RegExp(`(?<![\\w:])${metric}(?![\\w:])`).test(expr);
}
