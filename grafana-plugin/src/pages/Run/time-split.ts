import type { MeanAndCount } from './server-histograms.ts';

/** A part of the mean time to first token. */
export interface TimePart {
  id: 'queue' | 'prefill' | 'server' | 'outside';
  seconds: number;
}

export interface TimeSplit {
  parts: TimePart[];
  totalSeconds: number;
  /**
   * Requests that the server counted beyond the client's; with others than 0 the means are not over the same requests.
   * Null when a count is unknown.
   */
  countMismatch: number | null;
}

interface SplitInput {
  client: MeanAndCount | null;
  queue: MeanAndCount | null;
  prefill: MeanAndCount | null;
  /** The server's own time to first token, for systems that do not expose the prefill time. */
  serverTtft: MeanAndCount | null;
}

/**
 * Where the mean time to first token goes. Means add up exactly over equal requests: client = queue + prefill + outside
 * of the engine (network, API server, tokenizer). Where the prefill time is not exposed, the rest of the server's own time
 * is used. Null when the client or every server part is missing.
 */
export function timeSplit({ client, queue, prefill, serverTtft }: SplitInput): TimeSplit | null {
  if (client?.mean === null || client === null) {
    return null;
  }
  const parts: TimePart[] = [];
  if (queue?.mean !== null && queue !== null) {
    parts.push({ id: 'queue', seconds: queue.mean });
  }
  if (prefill?.mean !== null && prefill !== null) {
    parts.push({ id: 'prefill', seconds: prefill.mean });
  } else if (serverTtft?.mean !== null && serverTtft !== null) {
    parts.push({ id: 'server', seconds: serverTtft.mean - (queue?.mean ?? 0) });
  }
  if (parts.length === 0) {
    return null;
  }
  const inside = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const differences = [queue, prefill ?? serverTtft].flatMap((one) =>
    one ? [difference(one.count, client.count)] : []
  );
  return {
    parts: [...parts, { id: 'outside', seconds: client.mean - inside }],
    totalSeconds: client.mean,
    countMismatch: differences.includes(null) ? null : largest(differences.filter((one) => one !== null)),
  };
}

function difference(server: number | null, client: number | null): number | null {
  return server === null || client === null ? null : server - client;
}

function largest(differences: readonly number[]): number {
  return differences.reduce((worst, one) => (Math.abs(one) > Math.abs(worst) ? one : worst), 0);
}
