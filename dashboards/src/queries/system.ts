import { knownMetrics, ruleFiles, type Rule } from '../../../prometheus/known-metrics.ts';
import { selectors } from '../../../prometheus/promql.ts';
import { RATE_RANGE } from '../../../prometheus/queries.ts';
import type { Query } from '../target.ts';

/** Recorded for every system, so that a dashboard needs to know none: what the variables are read from. */
export const SYSTEM_PRESENCE = 'system:requests:rate';
/** What the viewer has chosen among the servers. */
const SELECTED_SYSTEMS = 'system=~"$system",model=~"$model",instance=~"$instance"';

/** Percentiles of the servers, in the vocabulary that they share; each instance has its own grid. */
export function systemPercentiles(measure: string, quantiles: readonly number[]): Query[] {
  return quantiles.flatMap((quantile) =>
    serverRules(`system:${measure}_seconds_bucket:rate`).map(({ expr, labels = {} }) => ({
      expr: `histogram_quantile(${quantile}, ${overTime(expr)})`,
      legend: `${labels['system']} p${quantile * 100} ${labels['definition']} {{instance}}`,
      perServer: true,
    })),
  );
}

/** A flow of the servers per second, such as their requests. */
export function systemRates(flow: string, name: string): Query[] {
  return serverRules(`system:${flow}:rate`).map(({ expr, labels = {} }) => ({
    expr: overTime(expr),
    legend: `${labels['system']} ${name} {{instance}}`,
    perServer: true,
  }));
}

/** A recorded gauge that is added within an instance. */
export function systemSum(metric: string, name: string): Query {
  return {
    expr: `sum by (system, model, instance) (system:${metric}{${SELECTED_SYSTEMS}})`,
    legend: `{{system}} ${name} {{instance}}`,
    perServer: true,
  };
}

/** Of the fullest engine of each instance. */
export const systemKvCacheUsage: Query = {
  expr: `max by (system, model, instance) (system:kv_cache_usage_ratio:max{${SELECTED_SYSTEMS}})`,
  legend: '{{system}} {{instance}}',
  perServer: true,
};

const KNOWN = knownMetrics();
const RULES = ruleFiles('rules').flatMap(([, rules]) => rules);

function serverRules(record: string): Rule[] {
  return RULES.filter((rule) => rule.record === record && rule.labels?.['system'] !== 'client');
}

/** What a rule records, of the chosen servers and over Grafana's window, which suits runs that are shorter than the rule's. */
function overTime(expr: string): string {
  const scoped = selectors(expr).reduceRight((text, { metric, index }) => {
    const at = index + metric.length;
    const hasMatchers = text[at] === '{';
    const matchers = matchersOf(metric);
    return `${text.slice(0, at)}{${matchers}${hasMatchers ? `,${text.slice(at + 1)}` : `}${text.slice(at)}`}`;
  }, expr);
  return scoped
    .replaceAll(/\[\d+[smh]\]/g, `[${RATE_RANGE}]`)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?<=\() | (?=\))/g, '')
    .trim();
}

function matchersOf(metric: string): string {
  const model = ['model', 'model_name'].find((label) => KNOWN.get(metric)?.labels.has(label));
  return ['instance=~"$instance"', ...(model === undefined ? [] : [`${model}=~"$model"`])].join(',');
}
