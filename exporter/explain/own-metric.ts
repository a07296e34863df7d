import { CAPACITY_MEASURES } from '../../core/measures/scalar-measures.ts';
import { DISTRIBUTION_MEASURES } from '../../core/measures/measures.ts';
import { RUN_SCALARS } from '../../core/measures/run-scalars.ts';
import { measureOfName, wholeName } from '../../core/measures/names.ts';

/** A measure of the client, by the name of a metric of llmbench's own, of the measure, or of the field's short word. */
export interface OwnMetric {
  readonly measure: string;
  readonly unit: string;
  readonly definition: string;
  readonly formula: string;
  readonly direction: string;
}

/** What of a metric's name is not the measure's: the prefix, the unit, the sample's suffix. */
const AROUND_MEASURE =
  /^(?:llmbench_(?:result_)?)?(.+?)(?:_(?:seconds|tokens|ratio|requests_per_second|tokens_per_second|joules|watts|joules_per_token|cost_per_million_tokens))?(?:_(?:bucket|sum|count))?$/;

/** Null when the name is of no measure of ours. */
export function ownMetric(name: string): OwnMetric | null {
  const lower = name.toLowerCase();
  return ownMeasure(lower) ?? ownMeasure(AROUND_MEASURE.exec(lower)?.[1] ?? lower);
}

function ownMeasure(base: string): OwnMetric | null {
  const { measure: wanted, clock } = measureOfName(wholeName(base));
  const candidates = [...DISTRIBUTION_MEASURES, ...RUN_SCALARS, ...Object.values(CAPACITY_MEASURES)];
  const found = candidates.find((each) => each.measure === wanted && (!('clock' in each) || each.clock === clock));
  if (found === undefined) return null;
  const { measure, unit, definition, formula, direction } = found;
  return { measure, unit, definition, formula, direction };
}

export function ownMetricText({ measure, unit, definition, formula, direction }: OwnMetric): string {
  const better = direction === 'none' ? 'describes the load and is not judged' : `${direction} is better`;
  return [
    `${measure}: a measure of llmbench's own`,
    `  ${formula}`,
    '',
    `  unit         ${unit}`,
    `  definition   ${definition}`,
    `  ${better}`,
    '',
  ].join('\n');
}
