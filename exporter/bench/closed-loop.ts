import { Admission } from './admission.ts';
import type { LoadPlan } from './load-plan.ts';
import { Pauses } from './pauses.ts';
import type { Gate, Schedule } from './schedule.ts';
import { openingPrefill, openPrefill } from './prefill-ramp.ts';
import { openSlots } from './slot-ramp.ts';
import { WHOLE, type Share } from './workers/share.ts';

export interface ClosedLoopPlan extends Pick<
  LoadPlan,
  'concurrencyRampSeconds' | 'prefillConcurrency' | 'prefillConcurrencyRampSeconds'
> {
  readonly concurrency: number;
  /** Absent: the whole of it. */
  readonly share?: Share;
}

/**
 * A fixed number of slots, each with one request at a time: the next is due the moment the slot's answer has ended, or,
 * when the server asked for a wait (`Retry-After`), the moment that is over.
 */
export function closedLoop(plan: ClosedLoopPlan): Schedule {
  const { share = WHOLE } = plan;
  let admission: Admission | null = null;
  let pauses: Pauses | null = null;

  const start = (gate: Gate, start_ns = gate.now_ns()): void => {
    const now_ns = (): number => gate.now_ns();
    const waits = (pauses = new Pauses(now_ns));
    const admitted = (admission = new Admission(gate, { concurrency: null, ...openingPrefill(plan) }));
    openPrefill(admitted, plan, start_ns, waits, now_ns);
    const fill = (due_ns: number): void =>
      admitted.offer(due_ns, (end_ns, retryAfterSeconds) => {
        if (retryAfterSeconds === null || retryAfterSeconds <= 0) return fill(end_ns);
        const over_ns = Math.round(gate.now_ns() + retryAfterSeconds * 1e9);
        waits.until(over_ns, () => fill(over_ns));
      });
    openSlots(plan.concurrency, plan.concurrencyRampSeconds, start_ns, waits, now_ns, fill, share);
  };

  // A slot that waits for others to prefill is not a request that somebody wanted at that time: none is lost.
  return { start, admitTurn: (send) => admission?.offerTurn(send), stop: () => pauses?.stop(), unsent: 0 };
}
