import type { ScalarResult } from '../../../core/run/result.ts';
import type { Fields } from '../reading/fields.ts';
import { statedScalar } from './stated-measures.ts';

/**
 * The limits of a goodput in one text, part of its definition: goodput under other limits is another measure. The limits
 * of tools are milliseconds.
 */
export function limitsText(limits: Fields): string {
  const named = limits.names.flatMap((name) => {
    const limit = limits.amount(name);
    return limit === null ? [] : [`${name}<=${limit}`];
  });
  return `[${named.sort().join(',')}]`;
}

/** Good requests per second; `over` names the time. */
export function statedGoodput(value: number, over: string, limits: string): ScalarResult {
  const definition = `good_requests_over_${over}${limits}`;
  return statedScalar({ measure: 'goodput', definition, unit: 'requests_per_second' }, value);
}

/** The share of good requests; `of` names what it is a share of. */
export function statedGoodRatio(value: number, of: string, limits: string): ScalarResult {
  const definition = `good_over_${of}${limits}`;
  return statedScalar({ measure: 'good_request_ratio', definition, unit: 'ratio', population: 'all' }, value);
}
