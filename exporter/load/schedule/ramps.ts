import type { Admission } from './admission.ts';
import type { LoadPlan } from './load-plan.ts';
import type { Pauses } from './pauses.ts';
import { WHOLE, type Share } from '../workers/share.ts';

/**
 * Slots opened per turn of the event loop: responses to the first requests are read before the last are sent, otherwise
 * the time to send them all would count as the server's.
 */
const SLOTS_PER_TURN = 8;

/**
 * Opens slots one after the other, evenly spread over a time: the first immediately, the last at its end. `open` gets
 * the instant at which the slot was to open. With a share only the slots of that share open, each at its time in the
 * total load.
 */
export function openSlots(
  slots: number,
  rampSeconds: number,
  start_ns: number,
  pauses: Pauses,
  now_ns: () => number,
  open: (at_ns: number) => void,
  { part, parts }: Share = WHOLE,
): void {
  const opensAt_ns = (slot: number): number =>
    start_ns + Math.round(slots > 1 ? (rampSeconds * 1e9 * slot) / (slots - 1) : 0);
  const openFrom = (slot: number): void => {
    let next = slot;
    const turnEnd = Math.min(slots, slot + SLOTS_PER_TURN * parts);
    for (; next < turnEnd && opensAt_ns(next) <= now_ns(); next += parts) open(opensAt_ns(next));
    if (next < slots) pauses.until(opensAt_ns(next), () => openFrom(next));
  };
  openFrom(part);
}

type PrefillLimit = Pick<LoadPlan, 'prefillConcurrency' | 'prefillConcurrencyRampSeconds'>;

/**
 * Increases the limit of requests in prefill from one to the planned number, as slots open; immediately without a ramp.
 */
export function openPrefill(
  admission: Admission,
  { prefillConcurrency, prefillConcurrencyRampSeconds }: PrefillLimit,
  start_ns: number,
  pauses: Pauses,
  now_ns: () => number,
  share: Share = WHOLE,
): void {
  if (prefillConcurrency === null) return;
  const open = (): void => admission.openPrefillSlot();
  // Without a ramp there is nothing to wait for, even when the start is in the future.
  const begin_ns = prefillConcurrencyRampSeconds === 0 ? Math.min(start_ns, now_ns()) : start_ns;
  openSlots(prefillConcurrency, prefillConcurrencyRampSeconds, begin_ns, pauses, now_ns, open, share);
}
