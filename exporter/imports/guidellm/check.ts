import { FloatColumn } from '../../../core/measures/float-column.ts';
import { PERCENTILES, PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import { checkStatistics, notePercentileMethod } from '../stated/check-statistics.ts';
import type { PercentileMethod } from '../stated/check-statistics.ts';
import type { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { RecordContext } from './records.ts';
import type { GuideRequest } from './request.ts';
import type { GuideRequests } from './requests.ts';
import { percentileOf, reported } from './stated.ts';

/** The smallest value whose share of values at or below it reaches q; the sums of shares have the tool's rounding. */
export const CUMULATIVE_SHARE: PercentileMethod = (ascending, q) => {
  const share = 1 / ascending.length;
  let reached = 0;
  for (const value of ascending) {
    reached += share;
    if (reached >= q) return value;
  }
  return ascending.at(-1) ?? NaN;
};

/**
 * Compares what a report reports of latency and time to first token with its own requests, over the requests that the tool
 * takes: those whose span (to their end, to their first token) meets the measurement.
 */
export function checkReport(
  metrics: Fields,
  requests: GuideRequests,
  window: RecordContext['window'],
  notes: ImportNotes,
): void {
  const spans = (endOf: (request: GuideRequest) => number | null): Float64Array => {
    const values = new FloatColumn();
    for (const request of requests) {
      const end_s = endOf(request);
      if (request.status !== 'successful' || end_s === null) continue;
      const isIn = window === null || (end_s >= window.start_s && request.sent_s <= window.end_s);
      if (isIn) values.append(end_s - request.sent_s);
    }
    return values.toArray();
  };
  compare(
    'request_latency',
    1,
    metrics,
    spans(({ end_s }) => end_s),
    notes,
  );
  const firsts = spans(({ first_s }) => first_s);
  const percentiles = compare('time_to_first_token_ms', 1e-3, metrics, firsts, notes);
  // The definition is ours, the percentiles are not.
  notePercentileMethod('time_to_first_token', percentiles, firsts, notes);
}

/** The percentiles that the report has, in seconds. */
function compare(
  name: string,
  factor: number,
  metrics: Fields,
  values: Float64Array,
  notes: ImportNotes,
): ReadonlyMap<number, number> {
  const statistics = reported(metrics, name, 'successful');
  if (statistics === null) return new Map();
  const scaled = (value: number | null): number | null => (value === null ? null : value * factor);
  const percentiles = PERCENTILE_NAMES.flatMap((key): [number, number][] => {
    const value = scaled(percentileOf(statistics, key));
    return value === null ? [] : [[PERCENTILES[key], value]];
  });
  const figures = {
    mean: scaled(statistics.amount('mean')),
    std: scaled(statistics.amount('std_dev')),
    min: scaled(statistics.amount('min')),
    max: scaled(statistics.amount('max')),
    percentiles: new Map(percentiles),
  };
  checkStatistics(name, figures, values, CUMULATIVE_SHARE, notes);
  return figures.percentiles;
}
