/**
 * The collector of servers' metrics, alone in a process: what it costs, whether it keeps its pace. Prints one JSON line.
 *
 * usage: node bench/collector-program.ts <interval ms> <warm s> <seconds> <url> …
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Collector } from '../exporter/servers/scrape/collector.ts';
import { parseTarget } from '../exporter/servers/scrape/targets.ts';

const [interval_ms = NaN, warm_s = NaN, measured_s = NaN] = process.argv.slice(2, 5).map(Number);
const collector = new Collector({
  targets: process.argv.slice(5).map(parseTarget),
  interval_ns: interval_ms * 1e6,
  now_ns: () => performance.now() * 1e6,
  report: (line) => console.error(line),
});
collector.start();
await sleep(warm_s * 1000);
const before = counts();
const cpuBefore = process.cpuUsage();
const start = performance.now();
await sleep(measured_s * 1000);
const { user, system } = process.cpuUsage(cpuBefore);
const elapsed_s = (performance.now() - start) / 1000;
const after = counts();
await collector.stop();
const cpu_s = (user + system) / 1e6;
const scrapes = after.scrapes - before.scrapes;
console.log(
  JSON.stringify({
    cpu_percent: (100 * cpu_s) / elapsed_s,
    busy_percent: (100 * (after.busy_s - before.busy_s)) / elapsed_s,
    cpu_ms_per_scrape: (1000 * cpu_s) / Math.max(1, scrapes),
    scrapes,
    failed: after.failed - before.failed,
    skipped: after.skipped - before.skipped,
    longest_interval_ms: Math.max(...collector.loops.map((loop) => loop.interval_ns)) / 1e6,
  }),
);

function counts(): { scrapes: number; failed: number; skipped: number; busy_s: number } {
  const all = { scrapes: 0, failed: 0, skipped: 0, busy_s: collector.busySeconds };
  for (const { store, skipped } of collector.loops) {
    all.scrapes += store.scrapes;
    all.skipped += skipped;
    for (let scrape = 0; scrape < store.scrapes; scrape++) if (!store.isOk(scrape)) all.failed += 1;
  }
  return all;
}
