/** What the client's exact percentile and the server's interval say of each other. */
export type Agreement = 'agrees' | 'differs' | 'unresolved' | 'unknown';

export interface Interval {
  low: number;
  /** Infinity when the percentile is above the last finite bound. */
  high: number;
}

/** An interval that is wider than this share of the client's value says too little for an agreement to mean anything. */
export const MAX_SHARE = 0.5;

/**
 * The client measures what the server measures plus the network: it agrees when its value lies in the server's interval,
 * or above it by no more than the allowance. Outside of it the two differ, however wide the buckets are. Within an
 * interval that is wider than half of the client's value, or has no upper end, is too coarse to compare.
 */
export function judgePercentile(client: number | null, server: Interval | null, allowanceSeconds: number): Agreement {
  if (client === null || server === null) {
    return 'unknown';
  }
  if (client < server.low || client > server.high + allowanceSeconds) {
    return 'differs';
  }
  return server.high - server.low > MAX_SHARE * client ? 'unresolved' : 'agrees';
}
