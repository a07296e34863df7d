import type { Target } from './targets.ts';

/** Systems whose page is there only after a switch, and how it is called. */
export const NEEDS_SWITCH =
  'some servers have no page without a switch: SGLang needs --enable-metrics, trtllm-serve return_perf_metrics: true ' +
  '(then at /prometheus/metrics), Dynamo workers DYN_SYSTEM_PORT, KVBM DYN_KVBM_METRICS=true';

/** What helps when a target answers HTTP 404, with addresses on its host; null: the message is of something else. */
export function pageNotFoundHint(message: string, { name, system }: Target): string | null {
  if (message !== 'it answers HTTP 404') return null;
  // Whoever named the system had its port and path filled in.
  if (system !== null) return NEEDS_SWITCH;
  const { hostname } = new URL(name);
  return (
    `Triton and the SGLang gateway have their page on a port of its own: --server-metrics triton=${hostname} or ` +
    `smg=${hostname}; ${NEEDS_SWITCH}`
  );
}
