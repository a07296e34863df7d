import type { DataQueryError } from '@grafana/data';
import { t } from '../../../text.ts';

/** Why a query's answer cannot be drawn, and what to write instead. */
export interface InputProblem {
  /** The query; empty when it is not about one. */
  refId: string;
  title: string;
  remedy: string;
}

/** A query that the data source could not answer, while others were. */
export function failedQuery({ refId = '', message = '' }: DataQueryError): InputProblem {
  return { refId, title: message, remedy: '' };
}

export function noBucketLabel(refId: string): InputProblem {
  return {
    refId,
    title: t('panel.problem.no-le', 'The query result has no "le" label, so it is not a histogram.'),
    remedy: queryCounters(),
  };
}

export function noOverflowBucket(refId: string): InputProblem {
  return {
    refId,
    title: t(
      'panel.problem.no-overflow',
      'The bucket le="+Inf" is missing: without it the number of observations is unknown.'
    ),
    remedy: t('panel.problem.no-overflow-remedy', 'Remove any filter on the label "le".'),
  };
}

export function summedCounters(refId: string): InputProblem {
  const rates = t(
    'panel.problem.summed-remedy',
    'For one line over many series use sum by (le) (rate(llmbench_time_to_first_token_seconds_bucket[$__rate_interval])).'
  );
  return {
    refId,
    title: t('panel.problem.summed', 'The query sums counters, so a reset of one of them cannot be detected.'),
    remedy: `${queryCounters()} ${rates}`,
  };
}

export function unlikeBounds(refId: string): InputProblem {
  return {
    refId,
    title: t(
      'panel.problem.unlike-bounds',
      'The counts decrease from a bucket to a wider one: histograms with different bounds are added.'
    ),
    remedy: t(
      'panel.problem.unlike-bounds-remedy',
      'Keep them apart, for example with sum by (instance, le), or select servers with equal bounds.'
    ),
  };
}

export function singleSample(refId: string): InputProblem {
  return {
    refId,
    title: t(
      'panel.problem.single',
      'This time range contains only one sample of the counters; a percentile requires two.'
    ),
    remedy: t(
      'panel.problem.single-remedy',
      'Use a longer time range, or a shorter step in the query options ("Min interval").'
    ),
  };
}

export function tableOverTime(refId: string): InputProblem {
  return {
    refId,
    title: t(
      'panel.problem.table',
      'A table with more than one time per bucket is not a histogram of the whole range.'
    ),
    remedy: t(
      'panel.problem.table-remedy',
      'Use the query type "Instant" with the format "Table", or the format "Time series".'
    ),
  };
}

export function noPercentileChosen(): InputProblem {
  return {
    refId: '',
    title: t('panel.problem.no-percentile', 'No percentile is selected.'),
    remedy: t('panel.problem.no-percentile-remedy', 'Select at least one in the panel options.'),
  };
}

function queryCounters(): string {
  return t(
    'panel.problem.query-counters',
    'Query the raw counters, for example llmbench_time_to_first_token_seconds_bucket, in the format "Time series".'
  );
}
