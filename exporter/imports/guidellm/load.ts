import { closedLoopKey } from '../../../core/run/load-key.ts';
import type { LoadKey } from '../../../core/run/run.ts';
import type { Fields } from '../reading/fields.ts';

/** The strategies that send a request at a scheduled time; the others send it as soon as possible. */
const SCHEDULED: ReadonlySet<string> = new Set(['constant', 'poisson', 'async', 'replay', 'trace']);

export function hasSchedule(strategy: Fields | null): boolean {
  return SCHEDULED.has(strategy?.text('type_') ?? '');
}

/** The load of a strategy; undefined for one that is not known. */
export function loadOf(strategy: Fields | null): LoadKey | undefined {
  const limit = strategy?.count('max_concurrency') ?? null;
  const request_rate = strategy?.amount('rate') ?? null;
  const ramp = strategy?.amount('rampup_duration') ?? null;
  const concurrency_ramp_seconds = ramp === 0 ? null : ramp;
  switch (strategy?.text('type_')) {
    case 'synchronous':
      return closedLoopKey(1);
    case 'concurrent':
      return { ...closedLoopKey(strategy.count('streams') ?? limit), concurrency_ramp_seconds };
    case 'throughput':
      return { ...closedLoopKey(limit), concurrency_ramp_seconds };
    case 'constant':
    case 'async':
      return { ...closedLoopKey(limit), mode: 'request_rate', request_rate, arrival_pattern: 'constant' };
    case 'poisson':
      return { ...closedLoopKey(limit), mode: 'request_rate', request_rate, arrival_pattern: 'poisson' };
    case 'replay':
    case 'trace':
      return { ...closedLoopKey(limit), mode: 'trace' };
    default:
      return undefined;
  }
}
