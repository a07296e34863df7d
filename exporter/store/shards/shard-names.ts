/** `shard 3`, or `shards 3, 5 and 8`; at most five are named. */
export function shardsText(parts: readonly (number | string)[]): string {
  const named = parts.slice(0, MAX_NAMED).map(String);
  const more = parts.length - named.length;
  if (parts.length === 1) return `shard ${named[0]}`;
  const last = more > 0 ? `${more} more` : named.pop();
  return `shards ${named.join(', ')} and ${last}`;
}

const MAX_NAMED = 5;
