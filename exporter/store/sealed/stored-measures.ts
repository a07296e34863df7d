import { isDeepStrictEqual } from 'node:util';
import { DISTRIBUTION_MEASURES } from '../../../core/measures/measures.ts';
import { publishedName } from '../../../core/measures/names.ts';
import { SCALAR_MEASURES } from '../../../core/measures/scalar-measures.ts';
import type { Clock } from '../../../core/run/statistic.ts';
import type { DistributionResult, MeasureResult, Percentile, ResultFile } from '../../../core/run/result.ts';
import { PERCENTILE_NAMES, type PercentileName } from '../../../core/stats/percentiles.ts';
import type { StoredObject } from '../migrations/migrate.ts';

/** What a distribution may lack, as it is read. */
const UNKNOWN = { n: null, effective_n: null, mean: null, std: null, min: null, max: null };
const UNKNOWN_PERCENTILE: Percentile = { value: null, ci95: null, bounds: null };

/** What a measure without a value is where its entry lacks it: half of the measures of an import have none. */
const USUAL: ReadonlyMap<string, StoredObject> = new Map(
  [...DISTRIBUTION_MEASURES, ...Object.values(SCALAR_MEASURES)].map((facts) => {
    const { measure, unit, definition } = facts;
    const clock: Clock = 'clock' in facts ? facts.clock : 'sent';
    return [publishedName({ measure, clock }), { unit, definition, origin: 'client', population: 'ok', clock }];
  }),
);

/**
 * A result as result.json has it: distributions without the members that are null, among them the percentiles of which
 * nothing is known; measures without a value without what `USUAL` has of them; and statistics over all requests that
 * equal those over the ok ones, because none failed, as `also: all` of these. Together they took three quarters of it.
 */
export function storedResult(result: ResultFile): object {
  const { measures, stages, breakdown } = result;
  return {
    ...result,
    measures: storedMeasures(measures),
    stages: stages.map(storedPart),
    ...(breakdown !== undefined && { breakdown: breakdown.map(storedPart) }),
  };
}

const storedPart = (part: Pick<ResultFile, 'measures'>): object => ({
  ...part,
  measures: storedMeasures(part.measures),
});

const storedMeasures = (measures: readonly MeasureResult[]): object[] =>
  measures.flatMap((measure, i) => {
    if (isRepeated(measures[i - 1], measure)) return [];
    return [{ ...storedMeasure(measure), ...(isRepeated(measure, measures[i + 1]) && { also: 'all' }) }];
  });

/** Whether a measure is over all requests what the one before it is over the ok ones. */
const isRepeated = (ok: MeasureResult | undefined, all: MeasureResult | undefined): boolean =>
  ok?.population === 'ok' && all?.population === 'all' && isDeepStrictEqual({ ...ok, population: 'all' }, all);

function storedMeasure(measure: MeasureResult): object {
  const stored: StoredObject = measure.kind === 'scalar' ? { ...measure } : storedDistribution(measure);
  if (hasValue(stored)) return stored;
  const usual = USUAL.get(publishedName(measure)) ?? {};
  // By its clock the measure is looked up.
  const isNeeded = ([name, value]: [string, unknown]): boolean =>
    value !== usual[name] || (name === 'clock' && value === 'due');
  return Object.fromEntries(Object.entries(stored).filter(isNeeded));
}

function storedDistribution({ percentiles, ...others }: DistributionResult): StoredObject {
  const known: Partial<Record<PercentileName, object>> = {};
  for (const name of PERCENTILE_NAMES) {
    const percentile = withoutNulls(percentiles[name]);
    if (Object.keys(percentile).length > 0) known[name] = percentile;
  }
  return { ...withoutNulls(others), ...(Object.keys(known).length > 0 && { percentiles: known }) };
}

/** Whether a stored measure has any figure besides the number of its values. */
const hasValue = (stored: StoredObject): boolean => FIGURES.some((name) => stored[name] != null);

const FIGURES = ['value', 'effective_n', 'mean', 'std', 'min', 'max', 'percentiles'];

const withoutNulls = (object: object): StoredObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));

/** A stored result with what its measures lack; also one of which every member was stored. */
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
const wholeMeasures = (measures: unknown): unknown =>
  Array.isArray(measures)
    ? measures.flatMap((each: unknown) => (isMeasure(each) ? wholeMeasure(each) : [each]))
    : measures;

type StoredMeasure = StoredObject & { readonly kind: 'scalar' | 'distribution' };

const isMeasure = (value: unknown): value is StoredMeasure =>
  isObject(value) && (value['kind'] === 'scalar' || value['kind'] === 'distribution');

function wholeMeasure({ also, ...stored }: StoredMeasure): unknown[] {
  const measure = hasValue(stored) ? stored : withUsual(stored);
  if (measure === null) return [];
  const whole = measure['kind'] === 'distribution' ? wholeDistribution(measure) : measure;
  return also === 'all' ? [whole, { ...whole, population: 'all' }] : [whole];
}

const IDENTITY = ['unit', 'definition', 'origin', 'population', 'clock'];

/** Null: what it lacks is not known, because only another version has the measure. Of this run it has no value. */
function withUsual(stored: StoredObject): StoredObject | null {
  if (IDENTITY.every((name) => Object.hasOwn(stored, name))) return stored;
  const measure = String(stored['measure']);
  const usual = USUAL.get(publishedName({ measure, clock: stored['clock'] === 'due' ? 'due' : 'sent' }));
  return usual === undefined ? null : { measure, ...usual, ...stored };
}

function wholeDistribution(measure: StoredObject): StoredObject {
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
