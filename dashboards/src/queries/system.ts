import type { Query } from '../target.ts';

/** Recorded for every system, so that a dashboard needs to know none: what the variables are read from. */
export const SYSTEM_PRESENCE = 'system:requests:rate1m';
/** What the viewer has chosen among the servers. */
export const SELECTED_SYSTEMS = 'system=~"$system",model=~"$model",instance=~"$instance"';

/** Percentiles of the servers, in the vocabulary that they share; each instance has its own grid. */
export function systemPercentiles(measure: string, quantiles: readonly number[]): Query[] {
  return quantiles.map((quantile) => ({
    expr:
      `histogram_quantile(${quantile}, sum by (system, definition, model, instance, le) ` +
      `(system:${measure}_seconds_bucket:rate1m{${SELECTED_SYSTEMS}}))`,
    legend: `{{system}} p${quantile * 100} {{definition}} {{instance}}`,
    perServer: true,
  }));
}

/** A recorded rate or gauge that is added within an instance. */
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
