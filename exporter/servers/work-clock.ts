/**
 * Nanoseconds that this thread has worked. Where the runtime cannot tell (Node before 23.9) it is the monotonic clock:
 * differences then hold the time that other programs took as well.
 */
export function workNow_ns(): number {
  if (typeof process.threadCpuUsage !== 'function') return performance.now() * 1e6;
  const { user, system } = process.threadCpuUsage();
  return (user + system) * 1e3;
}
