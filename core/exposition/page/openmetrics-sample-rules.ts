import type { Labels, MetricType } from '../exposition.ts';
import { parseGoFloat } from './read-number.ts';

export interface OpenMetricsSample {
  readonly family: string;
  readonly type: MetricType;
  readonly suffix: string;
  /** Without the `le` of a bucket. */
  readonly labels: Labels;
  readonly bound: string | null;
  readonly value: number;
  readonly hasExemplar: boolean;
}

const COUNTER_LIKE = ['_total', '_sum', '_count', '_bucket', '_gcount', '_gsum'];
const WHOLE = ['_count', '_bucket', '_gcount'];

/** The MUST of OpenMetrics 1.0 that one sample breaks, or null. */
export function checkSampleRules(sample: OpenMetricsSample): string | null {
  const { family, type, suffix, labels, value } = sample;
  if (type === 'stateset') {
    if (!Object.hasOwn(labels, family)) return 'a state without the label of its family';
    if (value !== 0 && value !== 1) return 'a state that is neither 0 nor 1';
  }
  if (type === 'info' && value !== 1) return 'an info that is not 1';
  if (type === 'summary' && suffix === '') {
    const quantile = canonicalNumber(labels['quantile']);
    if (quantile === null || !(quantile >= 0 && quantile <= 1)) return 'a quantile that is not a number from 0 to 1';
    if (value < 0) return 'a negative value of a quantile';
  }
  if (suffix === '_bucket' && canonicalNumber(sample.bound ?? undefined) === null)
    return 'a bucket without a canonical "le"';
  if (COUNTER_LIKE.includes(suffix) && Number.isNaN(value)) return `${suffix} is NaN`;
  if (COUNTER_LIKE.includes(suffix) && suffix !== '_gsum' && value < 0) return `${suffix} is negative`;
  if (WHOLE.includes(suffix) && !Number.isInteger(value)) return `${suffix} is not an integer`;
  const mayHaveExemplar = suffix === '_bucket' || (type === 'counter' && suffix === '_total');
  if (sample.hasExemplar && !mayHaveExemplar) return 'an exemplar on something else than a bucket or a total';
  return null;
}

/** The number that an `le` or `quantile` writes: decimal, or `+Inf` and `-Inf` in exactly this form. */
function canonicalNumber(text: string | undefined): number | null {
  if (text === '+Inf') return Infinity;
  if (text === '-Inf') return -Infinity;
  const value = text === undefined ? undefined : parseGoFloat(text);
  return value === undefined || !Number.isFinite(value) ? null : value;
}
