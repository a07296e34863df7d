/**
 * Index of the bucket that holds the observation of the given rank: the first whose cumulative count reaches it.
 *
 * `counts` must not go down. The last bucket is the response when none before it reaches the rank. Halves in the order
 * of Go's `sort.Search`, so that NaN counts lead to the bucket to which they lead Prometheus.
 */
export function rankBucket(counts: ArrayLike<number>, rank: number): number {
  let low = 0;
  let high = counts.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((counts[middle] ?? NaN) >= rank) high = middle;
    else low = middle + 1;
  }
  return low;
}
