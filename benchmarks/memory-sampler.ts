/**
 * Preloaded into a process whose memory is watched (`--expose-gc --import`): collects the garbage now and then and sends
 * what is left, with the time, to the parent.
 */
const EVERY_MS = 2000;

setInterval(() => {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({ seconds: performance.now() / 1000, rss, held: heapUsed + external });
}, EVERY_MS).unref();
