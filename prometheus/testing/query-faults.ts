import type { KnownMetric } from '../known-metrics.ts';
import { aggregations, selectors, type Selector } from '../promql.ts';

const OF_COUNTERS = new Set(['rate', 'increase', 'irate']);
/** Functions over time that leave a counter what it is, or count its series: no difference is taken. */
const OF_ANY = new Set(['last_over_time', 'present_over_time', 'absent_over_time']);

/**
 * What is wrong with a query, measured by what is known of the metrics: names and labels that nothing exposes, a rate
 * of a gauge, a counter without rate or increase, a suffix that the type does not have, buckets of several grids added.
 */
export function queryFaults(expr: string, known: ReadonlyMap<string, KnownMetric>): readonly string[] {
  const found = selectors(expr);
  const named = found.filter(({ metric }) => metric !== '');
  return [
    ...named.flatMap((selector) => metricFaults(selector, known, isOfTime(expr, selector))),
    ...aggregationFaults(expr, named, known),
    ...named.filter(({ metric }) => metric.endsWith('_bucket')).flatMap((selector) => gridFaults(expr, selector)),
    ...(/\bor\s+(on\s*\([^)]*\)\s*)?vector\b/.test(expr) ? ['missing painted as a value'] : []),
    ...(/\bavg\b|\bavg_over_time\b|\b1e-\d/.test(expr) ? ['an average of averages, or a biased quotient'] : []),
    ...(/\b(quantile|quantile_over_time)\s*(by\b|\()/.test(expr) ? ['a percentile of what may be percentiles'] : []),
    ...(/(sum|max|min)\s*(by\s*\([^)]*\)\s*)?\(\s*histogram_quantile/.test(expr) ? ['percentiles aggregated'] : []),
  ];
}

function metricFaults(
  { metric, matchers, rangeFunction }: Selector,
  known: ReadonlyMap<string, KnownMetric>,
  isOfTime: boolean,
): string[] {
  const facts = known.get(metric);
  if (facts === undefined) return [`${metric}: nothing exposes it`];
  const faults = matchers
    .filter(({ label }) => !facts.labels.has(label))
    .map(({ label }) => `${metric}: it has no label ${label}`);
  const counts = facts.type === 'counter' || facts.type === 'histogram' || isPart(metric, facts);
  const isRule = metric.includes(':rate') || metric.startsWith('system:') || metric.startsWith('job_instance:');
  if (rangeFunction !== null && OF_COUNTERS.has(rangeFunction) && !counts) faults.push(`${metric}: a rate of a gauge`);
  const differenced = rangeFunction !== null && (OF_COUNTERS.has(rangeFunction) || OF_ANY.has(rangeFunction));
  if (counts && !differenced && !isRule && !isOfTime) faults.push(`${metric}: a counter without rate or increase`);
  return faults;
}

/** Whether only the times of the samples are read. */
function isOfTime(expr: string, { index }: Selector): boolean {
  return /\btimestamp\(\s*$/.test(expr.slice(0, index));
}

function isPart(metric: string, { family, type }: KnownMetric): boolean {
  return type === 'summary' && metric !== family;
}

function aggregationFaults(
  expr: string,
  found: readonly Selector[],
  known: ReadonlyMap<string, KnownMetric>,
): string[] {
  return aggregations(expr).flatMap(({ by, start, end }) => {
    const inside = found.filter(({ index }) => index >= start && index < end);
    const text = expr.slice(start, end);
    const made = [...text.matchAll(/label_replace\([^"]*"(\w+)"|"(\w+)", "[^"]*", "\w+", "/g)].flatMap(
      ([, first, other]) => [first, other],
    );
    const joined = [...text.matchAll(/group_left\s*\(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/,\s*/));
    const exists = (label: string): boolean =>
      made.includes(label) ||
      joined.includes(label) ||
      inside.some(({ metric }) => known.get(metric)?.labels.has(label));
    return by
      .filter((label) => label !== '__name__' && inside.length > 0 && !exists(label))
      .map((label) => `nothing inside has a label ${label}`);
  });
}

/** Buckets are added within an instance or a run only: there a family has one grid. */
function gridFaults(expr: string, { metric, matchers, index, rangeFunction }: Selector): string[] {
  if (matchers.some(({ label, operator }) => label === 'le' && operator !== '!=')) return [];
  const outer = aggregations(expr).filter(({ start, end }) => index >= start && index < end);
  // The least or the largest of counts that are added up adds none.
  const around = outer.filter(({ operator, by }) => by.includes('le') || !['min', 'max'].includes(operator));
  if (around.length === 0) return rangeFunction === null ? [] : [`${metric}: not added up by le`];
  return around.every(({ by }) => by.includes('le') && keepsGrids(by, matchers))
    ? []
    : [`${metric}: grids of several sources`];
}

function keepsGrids(by: readonly string[], matchers: Selector['matchers']): boolean {
  if (by.includes('instance') || by.includes('run_id')) return true;
  const one = (label: string): boolean =>
    matchers.some((matcher) => matcher.label === label && matcher.operator === '=');
  return one('run_id') || one('instance');
}
