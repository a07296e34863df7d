import { Admission } from './admission.ts';
import type { ClosedLoad } from './load-plan.ts';
import { Pauses } from './pauses.ts';
import type { Gate, Schedule } from './schedule.ts';
import { openPrefill, openSlots } from './ramps.ts';
import { WHOLE, type Share } from '../workers/share.ts';

/**
 * A fixed number of slots, each with one request at a time: the next is due when the slot's response has ended, or,
 * when the server requested a wait (`Retry-After`), when that wait is over.
 */
export function closedLoop(load: ClosedLoad, share: Share = WHOLE): Schedule {
  let admission: Admission | null = null;
  let pauses: Pauses | null = null;

  const start = (gate: Gate, start_ns = gate.now_ns()): void => {
    const now_ns = (): number => gate.now_ns();
    const waits = (pauses = new Pauses(now_ns));
    const prefills = load.prefillConcurrency === null ? Infinity : 0;
    const admitted = (admission = new Admission(gate, { requests: Infinity, prefills }));
    openPrefill(admitted, load, start_ns, waits, now_ns, share);
    const fill = (due_ns: number): void =>
      admitted.offer(due_ns, (end_ns, retryAfterSeconds) => {
        if (retryAfterSeconds === null || retryAfterSeconds <= 0) return fill(end_ns);
        const over_ns = Math.round(gate.now_ns() + retryAfterSeconds * 1e9);
        waits.until(over_ns, () => fill(over_ns));
      });
    openSlots(load.concurrency, load.concurrencyRampSeconds, start_ns, waits, now_ns, fill, share);
  };

  // A slot that waits for prefill is not a request that was due at that time: none is lost.
  return { start, admitTurn: (send) => admission?.offerTurn(send), stop: () => pauses?.stop(), unsent: 0 };
}
