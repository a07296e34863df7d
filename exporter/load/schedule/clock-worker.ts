/**
 * A thread that sleeps until the next instant of a ring and then wakes the measuring thread. It has no other task, so
 * that neither the loop of the measuring thread nor the millisecond resolution of its timers decides when it wakes.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { CELL, slotOf, type AlarmRing } from './alarm-ring.ts';
import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';

const { control, instants_ns } = workerData as AlarmRing;

parentPort?.postMessage('ready');

while (Atomics.load(control, CELL.stop) === 0) {
  const signal = Atomics.load(control, CELL.signal);
  const next = Atomics.load(control, CELL.passed);
  if (next === Atomics.load(control, CELL.written)) {
    // Read again after `signal`: if a write or a stop came in between, the value has changed and this does not sleep.
    if (Atomics.load(control, CELL.stop) === 0) Atomics.wait(control, CELL.signal, signal);
    continue;
  }
  const remaining_ns = (instants_ns[slotOf(next)] ?? 0) - monotonicNow_ns();
  if (remaining_ns > 0) {
    Atomics.wait(control, CELL.signal, signal, remaining_ns / 1e6);
    continue;
  }
  Atomics.store(control, CELL.passed, (next + 1) | 0);
  Atomics.add(control, CELL.wake, 1);
  Atomics.notify(control, CELL.wake);
}
