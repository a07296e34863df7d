import { closedLoopKey } from '../../../core/run/load-key.ts';
import type { LoadKey } from '../../../core/run/run.ts';
import type { Fields } from '../reading/fields.ts';

/**
 * The load of vLLM's and SGLang's benchmark. Without a rate ("inf", and Infinity, which is read as unknown) everything is
 * sent at once, as far as `max_concurrency` lets it: a closed loop. Undefined when the file does not report.
 */
export function benchLoad(fields: Fields, burstiness: number | null): LoadKey | undefined {
  const limit = fields.count('max_concurrency');
  if (!fields.has('request_rate')) return undefined;
  const rate = fields.raw('request_rate');
  if (rate === 'trace') return { ...closedLoopKey(limit), mode: 'trace' };
  if (rate === null || rate === 'inf') return closedLoopKey(limit);
  const request_rate = fields.amount('request_rate');
  if (request_rate === null) return undefined;
  return { ...closedLoopKey(limit), mode: 'request_rate', request_rate, ...arrivals(burstiness) };
}

/** The gaps are gamma distributed: 1 is poisson. */
function arrivals(burstiness: number | null): Pick<LoadKey, 'arrival_pattern' | 'arrival_smoothness'> {
  if (burstiness === null) return { arrival_pattern: null, arrival_smoothness: null };
  return burstiness === 1
    ? { arrival_pattern: 'poisson', arrival_smoothness: null }
    : { arrival_pattern: 'gamma', arrival_smoothness: burstiness };
}
