import { COST_MEASURES, currencyOf } from '../../../core/measures/energy-results.ts';
import { moneyText } from '../../../core/text/quantities.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import { scalarOf } from './scalar-of.ts';

const { cost_per_million_output_tokens: OUTPUT, cost_per_million_total_tokens: TOTAL } = COST_MEASURES;

/** The cost per million tokens; none without a price. */
export function costFacts(measures: readonly MeasureResult[]): [name: string, text: string][] {
  const [output, total] = [OUTPUT, TOTAL].map(({ measure }) => scalarOf(measures, measure));
  if (output === undefined || total === undefined) return [];
  const parts = [
    ...(output.value === null ? [] : [`${moneyText(output.value, currencyOf(output))} per million output tokens`]),
    ...(total.value === null ? [] : [`${moneyText(total.value, currencyOf(total))} per million tokens in total`]),
  ];
  const unknown = 'unknown: the number of GPUs (--gpu-count) or the number of tokens is missing';
  return [['cost', parts.length === 0 ? unknown : parts.join(' · ')]];
}
