import type { Admission, AdmissionLimits } from './admission.ts';
import type { LoadPlan } from './load-plan.ts';
import type { Pauses } from './pauses.ts';
import { openSlots } from './slot-ramp.ts';
import type { Share } from './workers/share.ts';

interface PrefillPlan extends Pick<LoadPlan, 'prefillConcurrency' | 'prefillConcurrencyRampSeconds'> {
  readonly share?: Share;
}

/** The limit with which an admission begins: none is open before `openPrefill`. */
export function openingPrefill({ prefillConcurrency }: PrefillPlan): Pick<AdmissionLimits, 'prefillConcurrency'> {
  return { prefillConcurrency: prefillConcurrency === null ? null : 0 };
}

/** Lets the limit of requests in prefill grow from one to the planned number, as slots open; at once without a ramp. */
export function openPrefill(
  admission: Admission,
  { prefillConcurrency, prefillConcurrencyRampSeconds = 0, share }: PrefillPlan,
  start_ns: number,
  pauses: Pauses,
  now_ns: () => number,
): void {
  if (prefillConcurrency === null) return;
  const open = (): void => admission.raisePrefillConcurrency();
  // Without a ramp there is nothing to wait for, also when the start is yet to come.
  const begin_ns = prefillConcurrencyRampSeconds === 0 ? Math.min(start_ns, now_ns()) : start_ns;
  openSlots(prefillConcurrency, prefillConcurrencyRampSeconds, begin_ns, pauses, now_ns, open, share);
}
