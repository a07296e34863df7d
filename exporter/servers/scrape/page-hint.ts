import type { Target } from './targets.ts';

/** Systems that expose metrics only when a setting enables them, with that setting. */
export const NEEDS_SWITCH =
  'some servers expose metrics only when enabled: SGLang requires --enable-metrics, trtllm-serve return_perf_metrics: true ' +
  '(at /prometheus/metrics), Dynamo workers DYN_SYSTEM_PORT, KVBM DYN_KVBM_METRICS=true';

/** Of a page that responds 401 or 403. */
export const NEEDS_CREDENTIALS =
  'the page requires credentials: set --server-metrics-bearer-env or --server-metrics-header';

/** Advice for a target that refuses its page, with addresses on its host; null when there is none. */
export function pageHint(message: string, { name, system }: Target): string | null {
  if (message === 'HTTP 401' || message === 'HTTP 403') return NEEDS_CREDENTIALS;
  if (message !== 'HTTP 404') return null;
  // A named system already has its default port and path.
  if (system !== null) return NEEDS_SWITCH;
  const { hostname } = new URL(name);
  return (
    `Triton and the SGLang gateway expose metrics on a separate port: --server-metrics triton=${hostname} or ` +
    `smg=${hostname}; ${NEEDS_SWITCH}`
  );
}
