import { GOODPUT_MEASURES, goodRequest } from '../../../core/measures/goodput.ts';
import { satisfies } from '../../../core/objectives/verdict-by-share.ts';
import { DISTRIBUTION_MEASURES, type PerRequestMeasure } from '../../../core/measures/measures.ts';
import { publishedName } from '../../../core/measures/names.ts';
import { figuresOf } from '../../../core/measures/request-figures.ts';
import { SCALAR_MEASURES } from '../../../core/measures/scalar-measures.ts';
import type { GoodputLimit, Objective } from '../../../core/run/objectives.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import { PERCENTILE_NAMES, PERCENTILES, type PercentileName } from '../../../core/stats/percentiles.ts';

/** How a search reads an objective from requests, one value per request. */
export interface ObjectiveTest {
  readonly slo: Objective;
  /**
   * The objective holds if at most this share of the requests has a value beyond the limit; null: if the mean of the values
   * keeps the limit.
   */
  readonly allowedBeyond: number | null;
  /** The percentile that the objective names; null: a mean or a ratio. */
  readonly quantile: number | null;
  /**
   * The value of a request; null if it has none. A failed request is beyond every limit, so that a server that rejects
   * requests under load does not pass. In a mean it has no value.
   */
  value(record: RequestRecord): number | null;
  isBeyond(value: number): boolean;
}

/** An objective that no number of requests can decide, or that does not depend on single requests. */
export class UnsuitableObjectiveError extends Error {
  override readonly name = 'UnsuitableObjectiveError';
}

/** Throws an `UnsuitableObjectiveError` that says what is supported. */
export function objectiveTest(slo: Objective, goodput: readonly GoodputLimit[]): ObjectiveTest {
  const measure = measureOf(slo);
  if (measure !== undefined) return ofMeasure(slo, measure);
  if (slo.measure === SCALAR_MEASURES.error_ratio.measure && isUpper(slo))
    return ofRatio(slo, slo.limit, ({ outcome }) => outcome !== 'ok');
  if (slo.measure === GOODPUT_MEASURES.good_request_ratio.measure && !isUpper(slo)) {
    if (goodput.length === 0) throw new UnsuitableObjectiveError(`${slo.measure} requires --goodput`);
    const isGood = goodRequest(goodput);
    return ofRatio(slo, 1 - slo.limit, (record) => record.outcome !== 'ok' || !isGood(record));
  }
  throw new UnsuitableObjectiveError(
    `${slo.measure} cannot be decided request by request: --find supports percentiles and means of measures with one value ` +
      'per request, error_ratio with an upper limit and good_request_ratio with a lower limit',
  );
}

const isUpper = ({ comparison }: Objective): boolean => comparison === '<' || comparison === '<=';

function measureOf({ measure, stat }: Objective): PerRequestMeasure | undefined {
  if (stat === null) return undefined;
  return DISTRIBUTION_MEASURES.find(
    (each): each is PerRequestMeasure => each.value !== null && publishedName(each) === measure,
  );
}

function ofMeasure(slo: Objective, measure: PerRequestMeasure): ObjectiveTest {
  const { stat } = slo;
  const isBeyond = (value: number): boolean => !satisfies(slo.comparison, value, slo.limit);
  const ofOk = ({ outcome, ...record }: RequestRecord): number | null =>
    outcome === 'ok' ? measure.value(figuresOf({ outcome, ...record })) : null;
  if (stat === 'mean') return { slo, allowedBeyond: null, quantile: null, value: ofOk, isBeyond };
  if (!isPercentile(stat)) {
    throw new UnsuitableObjectiveError(
      `the ${stat ?? 'value'} of ${slo.measure} cannot be decided by a sample: --find supports percentiles and means`,
    );
  }
  const quantile = PERCENTILES[stat];
  const beyondAll = isUpper(slo) ? Infinity : -Infinity;
  return {
    slo,
    allowedBeyond: isUpper(slo) ? 1 - quantile : quantile,
    quantile,
    value: (record) => (record.outcome === 'ok' ? ofOk(record) : beyondAll),
    isBeyond,
  };
}

function isPercentile(stat: Objective['stat']): stat is PercentileName {
  return PERCENTILE_NAMES.some((name) => name === stat);
}

function ofRatio(slo: Objective, allowed: number, isBad: (record: RequestRecord) => boolean): ObjectiveTest {
  if (!(allowed > 0 && allowed < 1)) {
    throw new UnsuitableObjectiveError(
      `no number of requests shows that ${slo.measure} is exactly 0 or 1: --find requires a limit between, such as ` +
        'error_ratio<=1%',
    );
  }
  return {
    slo,
    allowedBeyond: allowed,
    quantile: null,
    value: (record) => Number(isBad(record)),
    isBeyond: (value) => value === 1,
  };
}
