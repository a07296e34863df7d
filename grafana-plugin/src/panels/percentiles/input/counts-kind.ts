const RATE_FUNCTION = /\b(?:rate|irate|increase|delta|idelta|xrate|xincrease)\s*\(/;
/** Recording rules are named level:metric:operations, for example `job:x_bucket:rate1m`. */
const RATE_RULE = /:(?:i?rate|increase)\w*/;
/** Operators and functions that put several series together, so that a reset of one of them is no longer seen. */
const AGGREGATION = /\b(?:sum|avg|max|min|quantile|topk|bottomk|group)\s*(?:\(|(?:by|without)\b)/;

/** True when the expression takes rates or increases, itself or through a recording rule named so. */
export function takesRates(expression: string): boolean {
  return RATE_FUNCTION.test(expression) || RATE_RULE.test(expression);
}

/** True when every count is a whole number, as a counter of observations is. */
export function areWhole(counts: Float64Array): boolean {
  // Walking over an iterator instead of positions takes several times as long.
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i] ?? NaN;
    if (count !== Math.floor(count)) {
      return false;
    }
  }
  return true;
}

/**
 * Classifies counts over time, `whole` when all of them are whole numbers. Functions and aggregations drop the metric's name, so a name that ends in `_bucket`
 * together with whole numbers means raw counters. Whole numbers that a query without rate() made are counters that
 * were added up. Everything else is taken as rates, for which nothing but an estimate is promised.
 */
export function kindOverTime(
  whole: boolean,
  metricName: string | undefined,
  expression: string | undefined
): 'counters' | 'summed' | 'rates' {
  if (!whole) {
    return 'rates';
  }
  if (metricName?.endsWith('_bucket')) {
    return 'counters';
  }
  return expression !== undefined && !takesRates(expression) ? 'summed' : 'rates';
}

/** The same for a native histogram: its frame does not name the metric, so only the query shows how it was processed. */
export function nativeKind(counts: Float64Array, expression: string | undefined): 'counters' | 'summed' | 'rates' {
  if (expression === undefined || takesRates(expression) || !areWhole(counts)) {
    return 'rates';
  }
  return AGGREGATION.test(expression) ? 'summed' : 'counters';
}
