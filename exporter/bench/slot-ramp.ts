import type { Pauses } from './pauses.ts';
import { WHOLE, type Share } from './workers/share.ts';

/**
 * As many slots as open in one turn of the event loop: answers to the first are read before the last are sent, else the
 * time that sending them all takes would count as the server's.
 */
const SLOTS_PER_TURN = 8;

/**
 * Opens slots one after the other, evenly spread over a time: the first at once, the last at its end. `open` gets the
 * instant at which the slot was to open. With a share only the slots of that share open, each when it would anyhow.
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
