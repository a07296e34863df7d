import type { MeasureResult, Percentile, ResultFile } from '../../../core/run/result.ts';
import { PERCENTILE_NAMES, type PercentileName } from '../../../core/stats/percentiles.ts';
import type { StoredObject } from '../migrations/migrate.ts';

/** What a distribution may lack, as it is read. */
const UNKNOWN = { n: null, effective_n: null, mean: null, std: null, min: null, max: null };
const UNKNOWN_PERCENTILE: Percentile = { value: null, ci95: null, bounds: null };

/**
 * A result as result.json has it: distributions without the members that are null, among them the percentiles of which
 * nothing is known. Most distributions of an import have no values, and took half of the disk.
 */
export function storedResult(result: ResultFile): object {
  const { measures, stages, breakdown } = result;
  return {
    ...result,
    measures: measures.map(storedMeasure),
    stages: stages.map(storedPart),
    ...(breakdown !== undefined && { breakdown: breakdown.map(storedPart) }),
  };
}

const storedPart = (part: Pick<ResultFile, 'measures'>): object => ({
  ...part,
  measures: part.measures.map(storedMeasure),
});

function storedMeasure(measure: MeasureResult): object {
  if (measure.kind === 'scalar') return measure;
  const { percentiles, ...others } = measure;
  const known: Partial<Record<PercentileName, object>> = {};
  for (const name of PERCENTILE_NAMES) {
    const percentile = withoutNulls(percentiles[name]);
    if (Object.keys(percentile).length > 0) known[name] = percentile;
  }
  return { ...withoutNulls(others), ...(Object.keys(known).length > 0 && { percentiles: known }) };
}

const withoutNulls = (object: object): object =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));

/** A stored result with null where a distribution lacks a member; also one of which every member was stored. */
export function wholeResult(result: StoredObject): StoredObject {
  const { measures, stages, breakdown } = result;
  return {
    ...result,
    measures: wholeMeasures(measures),
    stages: wholeParts(stages),
    ...(breakdown !== undefined && { breakdown: wholeParts(breakdown) }),
  };
}

const wholeParts = (parts: unknown): unknown =>
  Array.isArray(parts)
    ? parts.map((part: unknown) => (isObject(part) ? { ...part, measures: wholeMeasures(part['measures']) } : part))
    : parts;

/** What is not a list of measures stays as it is: its reader reports the damage. */
const wholeMeasures = (measures: unknown): unknown => (Array.isArray(measures) ? measures.map(wholeMeasure) : measures);

function wholeMeasure(measure: unknown): unknown {
  if (!isObject(measure) || measure['kind'] !== 'distribution') return measure;
  const { percentiles = {}, ...others } = measure;
  if (!isObject(percentiles)) return measure;
  const whole: Record<string, unknown> = {};
  for (const name of PERCENTILE_NAMES) whole[name] = wholePercentile(percentiles[name]);
  return { ...UNKNOWN, ...others, percentiles: whole };
}

const wholePercentile = (percentile: unknown): unknown => {
  if (percentile === undefined) return UNKNOWN_PERCENTILE;
  return isObject(percentile) ? { ...UNKNOWN_PERCENTILE, ...percentile } : percentile;
};

const isObject = (value: unknown): value is StoredObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
