/** Why a query's answer cannot be drawn, and what to write instead. */
export interface InputProblem {
  /** The query; empty when it is not about one. */
  refId: string;
  title: string;
  remedy: string;
}

const RAW = 'llmbench_time_to_first_token_seconds_bucket';
const BEST = `Query the raw counters, for example ${RAW}, in the format "Time series".`;

export function noBucketLabel(refId: string): InputProblem {
  return { refId, title: 'The answer has no "le" label, so it holds no histogram.', remedy: BEST };
}

export function noOverflowBucket(refId: string): InputProblem {
  return {
    refId,
    title: 'The bucket le="+Inf" is missing: without it the number of observations is unknown.',
    remedy: 'Leave out any filter on the label "le".',
  };
}

export function summedCounters(refId: string): InputProblem {
  return {
    refId,
    title: 'Counters are added up before the panel sees them, so a restart of one of them cannot be noticed.',
    remedy: `${BEST} For one line over many series use sum by (le) (rate(${RAW}[$__rate_interval])).`,
  };
}

export function nativeHistogram(refId: string): InputProblem {
  return {
    refId,
    title: 'Native histograms are not supported yet.',
    remedy: 'Query the classic buckets (the series that ends in _bucket) of the same metric.',
  };
}

export function singleSample(refId: string): InputProblem {
  return {
    refId,
    title: 'There is only one sample of the counters in this time range, and a percentile needs the difference of two.',
    remedy: 'Choose a longer time range, or a shorter step in the query options ("Min interval").',
  };
}

export function tableOverTime(refId: string): InputProblem {
  return {
    refId,
    title: 'A table with more than one time per bucket is not a histogram of the whole range.',
    remedy: 'Use the query type "Instant" with the format "Table", or the format "Time series".',
  };
}

export function noPercentileChosen(): InputProblem {
  return { refId: '', title: 'No percentile is chosen.', remedy: 'Choose some in the panel options.' };
}
