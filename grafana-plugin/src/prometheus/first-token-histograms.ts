import { SYSTEMS } from '../catalog/server-catalog.ts';

/** A histogram of each page that may be scraped: the client's, and each server's. */
export const FIRST_TOKEN_HISTOGRAMS: readonly string[] = [
  'llmbench_time_to_first_token_seconds',
  ...new Set(
    SYSTEMS.flatMap(({ families }) => families.filter(({ quantity }) => quantity === 'time_to_first_token')).map(
      ({ name }) => name
    )
  ),
];
