/** Preloaded into a program (`--import`): prints its CPU seconds and its peak memory in one JSON line when it ends. */
process.once('exit', () => {
  const { user, system } = process.cpuUsage();
  const peak_mb = (process.resourceUsage().maxRSS * 1024) / 1e6;
  process.stdout.write(`\n${JSON.stringify({ cpu_s: (user + system) / 1e6, peak_mb })}\n`);
});
