/**
 * CPU time of this thread in nanoseconds. Where the runtime does not report it (Node before 23.9), the monotonic clock
 * is used: differences then include the time taken by other programs.
 */
export function workNow_ns(): number {
  if (typeof process.threadCpuUsage !== 'function') return performance.now() * 1e6;
  const { user, system } = process.threadCpuUsage();
  return (user + system) * 1e3;
}
