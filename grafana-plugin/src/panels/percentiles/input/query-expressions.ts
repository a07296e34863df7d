import type { DataFrame } from '@grafana/data';
import type { DataQuery } from '@grafana/schema';

/**
 * The PromQL text of each query by refId: what was executed when the data source reports it (it does on the first frame of an
 * answer, not in the heatmap format), else what the panel's query holds.
 */
export function queryExpressions(
  frames: readonly DataFrame[],
  targets: readonly DataQuery[] = []
): Map<string, string> {
  const expressions = new Map<string, string>();
  for (const target of targets) {
    if ('expr' in target && typeof target.expr === 'string') {
      expressions.set(target.refId, target.expr);
    }
  }
  for (const frame of frames) {
    const executed = /^Expr: ([\s\S]*?)(?:\nStep: .*)?$/.exec(frame.meta?.executedQueryString ?? '')?.[1];
    if (executed !== undefined && frame.refId !== undefined) {
      expressions.set(frame.refId, executed);
    }
  }
  return expressions;
}

/**
 * The query for native histograms instead of one that asks for buckets of classic histograms only; null for any other.
 */
export function nativeQuery(expression: string): string | null {
  const families = [...expression.matchAll(/([a-zA-Z_:][\w:]*)_bucket(?![\w:])/g)].map(([, family = '']) => family);
  const asksForEither = families.some((family) => new RegExp(`(?<![\\w:])${family}(?![\\w:])`).test(expression));
  return families.length === 0 || asksForEither
    ? null
    : families.reduce((query, family) => query.replaceAll(`${family}_bucket`, family), expression);
}
