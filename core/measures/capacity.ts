import type { SearchedLoad } from '../run/capacity.ts';
import type { ScalarMeasure } from './measures.ts';

/** What a search for the capacity (`run --find`) measures: an interval, by the load that it varies. */
export const CAPACITY_MEASURES = {
  concurrency: {
    measure: 'concurrency_capacity',
    unit: 'requests',
    definition: 'largest_concurrency_at_which_all_objectives_hold',
    formula: 'largest number of requests in flight at which every objective of the search holds',
    direction: 'higher',
  },
  request_rate: {
    measure: 'request_rate_capacity',
    unit: 'requests_per_second',
    definition: 'largest_request_rate_at_which_all_objectives_hold',
    formula: 'largest rate of arrivals at which every objective of the search holds',
    direction: 'higher',
  },
} as const satisfies Record<SearchedLoad, ScalarMeasure>;
