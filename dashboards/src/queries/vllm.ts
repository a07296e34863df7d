import { RATE_RANGE } from '../../../prometheus/queries.ts';
import type { Query } from '../target.ts';

/** A family that every vLLM server exposes from its start: what the variables are read from. */
export const VLLM_PRESENCE = 'vllm:num_requests_running';
export const VLLM_MODEL_LABEL = 'model_name';

const SELECTED_SERVERS = `job=~"$job",instance=~"$instance",${VLLM_MODEL_LABEL}=~"$model"`;

/** Percentiles over time, one line per instance: the bucket bounds of two instances may differ. */
export function vllmPercentiles(histogram: string, quantiles: readonly number[]): Query[] {
  return quantiles.map((quantile) => ({
    expr:
      `histogram_quantile(${quantile}, sum by (instance, le) ` +
      `(rate(${histogram}_bucket{${SELECTED_SERVERS}}[${RATE_RANGE}])))`,
    legend: `vLLM p${quantile * 100} {{instance}}`,
  }));
}

/** A gauge added over the engines of an instance. */
export function vllmGauge(family: string, name: string): Query {
  return { expr: `sum by (instance) (${family}{${SELECTED_SERVERS}})`, legend: `${name} {{instance}}` };
}

/** A gauge of each engine: a ratio is not added. */
export function vllmEngineGauge(family: string): Query {
  return { expr: `${family}{${SELECTED_SERVERS}}`, legend: '{{instance}} engine {{engine}}' };
}

/** A counter's increase per second, added over the engines of an instance. */
export function vllmRate(counter: string, name: string): Query {
  return {
    expr: `sum by (instance) (rate(${counter}{${SELECTED_SERVERS}}[${RATE_RANGE}]))`,
    legend: `${name} {{instance}}`,
  };
}
