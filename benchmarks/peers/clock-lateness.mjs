/**
 * How late a bare clock is: a thread sleeps until each moment of a Poisson schedule and wakes the main thread, which waits
 * with `Atomics.waitAsync` and does nothing. Prints one JSON line.
 *
 * usage: clock-lateness.mjs RATE SECONDS
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const START_DELAY_MS = 50;

if (isMainThread) await measure();
else await keepTime();

async function measure() {
  const [rate, seconds] = process.argv.slice(2).map(Number);
  const due_ms = schedule(rate, rate * seconds);
  const shared = new SharedArrayBuffer(4);
  const late_ms = new Float64Array(due_ms.length);
  await sleep(100);
  const clock = new Worker(new URL(import.meta.url), { workerData: { due_ms, shared } });
  await once(clock, 'message');
  const start_ms = performance.now() + START_DELAY_MS;
  clock.postMessage(start_ms + performance.timeOrigin);
  const woken = new Int32Array(shared);
  let seen = 0;
  for (let next = 0; next < due_ms.length;) {
    const waiting = Atomics.waitAsync(woken, 0, seen);
    if (waiting.async) await waiting.value;
    seen = Atomics.load(woken, 0);
    for (let now_ms = performance.now() - start_ms; next < due_ms.length && due_ms[next] <= now_ms; next++) {
      late_ms[next] = now_ms - due_ms[next];
      now_ms = performance.now() - start_ms;
    }
  }
  late_ms.sort();
  const percentile = (share) => late_ms[Math.floor(share * (late_ms.length - 1))];
  console.log(JSON.stringify({ p50_ms: percentile(0.5), p99_ms: percentile(0.99) }));
  process.exit(0);
}

/** Poisson arrivals, in milliseconds since the start. */
function schedule(rate, count) {
  let at_ms = 0;
  return Float64Array.from({ length: count }, () => (at_ms += (-Math.log(1 - Math.random()) / rate) * 1000));
}

async function keepTime() {
  const { due_ms, shared } = workerData;
  const woken = new Int32Array(shared);
  const never = new Int32Array(new SharedArrayBuffer(4));
  parentPort.postMessage('ready');
  const [startEpoch_ms] = await once(parentPort, 'message');
  const start_ms = startEpoch_ms - performance.timeOrigin;
  for (const due of due_ms) {
    for (let left = due + start_ms - performance.now(); left > 0; left = due + start_ms - performance.now()) {
      Atomics.wait(never, 0, 0, left);
    }
    Atomics.add(woken, 0, 1);
    Atomics.notify(woken, 0);
  }
}
