/**
 * Preloaded into a process that is watched (`--import`): writes its memory, open files and event-loop delay to descriptor 3
 * now and then, one JSON line each. With --expose-gc garbage is collected before; without, it shows what an operator sees.
 */
import { readdirSync, writeSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Reading } from './watched-command.ts';

/** Not a channel of Node's, which a command would take for its parent. */
const READINGS = 3;
const EVERY_MS = 2000;
const RESOLUTION_MS = 10;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();

setInterval(() => {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  // What is measured is the time between two timers.
  const delayOf = (value_ns: number): number => Math.max(0, value_ns / 1e6 - RESOLUTION_MS);
  const reading: Reading = {
    seconds: performance.now() / 1000,
    rss_mb: rss / 1e6,
    held_mb: (heapUsed + external) / 1e6,
    openFiles: openFiles(),
    delay_p99_ms: delayOf(delay.percentile(99)),
    delay_max_ms: delayOf(delay.max),
  };
  delay.reset();
  writeSync(READINGS, `${JSON.stringify(reading)}\n`);
}, EVERY_MS).unref();

/** NaN where the kernel does not report them. */
function openFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return NaN;
  }
}
