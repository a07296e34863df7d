import { request } from 'undici';
import type { Exposition } from '../../../core/exposition/index.ts';
import { systemsOfNames } from '../../../catalog/detect.ts';

/** What a `/metrics` page reveals about its server. */
export interface RecognizedServer {
  readonly metricsUrl: string;
  /** The catalog that describes it; null when the system is unknown. */
  readonly system: string | null;
}

const TIMEOUT_MS = 2_000;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Checks whether the server at `origin` serves Prometheus metrics at `/metrics`, as vLLM, SGLang, Dynamo's frontend and
 * the gateways do. Null when it does not: a benchmark does not require metrics.
 */
export async function recognizeServer(origin: string): Promise<RecognizedServer | null> {
  const metricsUrl = new URL('/metrics', origin).href;
  const page = await fetchPage(metricsUrl);
  if (page === null || !/^(# (HELP|TYPE) \S|[a-zA-Z_:][\w:]*[{ ])/m.test(page)) return null;
  return { metricsUrl, system: systemOf(page) };
}

async function fetchPage(url: string): Promise<string | null> {
  try {
    const { statusCode, headers, body } = await request(url, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (statusCode !== 200 || String(headers['content-type'] ?? '').includes('html')) {
      await body.dump();
      return null;
    }
    let page = '';
    for await (const piece of body.setEncoding('utf8')) {
      page += String(piece);
      if (page.length > MAX_BYTES) return null;
    }
    return page;
  } catch {
    // Unreachable, too slow or truncated: treated as no page, which the benchmark does not require.
    return null;
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
