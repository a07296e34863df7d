import { systemsOfNames } from '../../../catalog/lookup.ts';
import type { Exposition } from '../../../core/exposition/index.ts';
import { PageClient, type PageLimits } from './page-request.ts';
import type { Target, PageAccess } from './targets.ts';

/** What a `/metrics` page reveals about its server. */
interface RecognizedServer {
  readonly metricsUrl: string;
  /** The catalog that describes it; null when the system is unknown. */
  readonly system: string | null;
}

const LIMITS: PageLimits = {
  connectTimeoutSeconds: 1,
  readTimeoutSeconds: 2,
  totalTimeoutSeconds: 2,
  maxBytes: 16 * 1024 * 1024,
};

/**
 * Checks whether the server at `origin` serves Prometheus metrics at `/metrics`, as vLLM, SGLang, Dynamo's frontend and
 * the gateways do. Null when it does not: a benchmark does not require metrics.
 */
export async function recognizeServer(origin: string, access: PageAccess): Promise<RecognizedServer | null> {
  const metricsUrl = new URL('/metrics', origin).href;
  const page = await pageText(metricsUrl, access);
  if (page === null || !/^(# (HELP|TYPE) \S|[a-zA-Z_:][\w:]*[{ ])/m.test(page)) return null;
  return { metricsUrl, system: systemOf(page) };
}

/** Null when the server is unreachable, too slow or serves something else. */
async function pageText(url: string, access: PageAccess): Promise<string | null> {
  const client = new PageClient(LIMITS, () => performance.now() * 1e6, access);
  try {
    const page = await client.get(url);
    if (page.kind !== 'page' || /html/i.test(page.contentType ?? '')) return null;
    return new TextDecoder().decode(page.bytes);
  } finally {
    await client.close();
  }
}

/** The system that the page belongs to; of several, the gateway, which passes through the families of its engine. */
export function systemOf(page: string): string | null {
  return systemsOf(page)[0] ?? null;
}

/** As `systemOf`, for a parsed page. */
export function systemOfExposition({ columns, families }: Exposition): string | null {
  return systemsOfNames(new Set([...families.map(({ name }) => name), ...columns.names]))[0] ?? null;
}

/**
 * All systems whose families are on the page: gateways, then engines, then components inside them, e.g. `dynamo`,
 * `vllm`, `lmcache` for a Dynamo worker that passes through the families of its engine.
 */
export function systemsOf(page: string): string[] {
  return systemsOfNames(
    new Set(Array.from(page.matchAll(/^(?:# TYPE )?([a-zA-Z_:][\w:]*)/gm), ([, name]) => name ?? '')),
  );
}

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
