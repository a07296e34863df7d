import { request } from 'undici';
import type { Exposition } from '../../core/exposition/index.ts';
import { systemsOfNames } from '../../catalog/detect.ts';

/** What the page at a `/metrics` says about its server. */
export interface RecognisedServer {
  readonly metricsUrl: string;
  /** The catalog that describes it, or null when the page is of no known system. */
  readonly system: string | null;
}

const TIMEOUT_MS = 2_000;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Looks whether the server that answers at `origin` serves Prometheus metrics at `/metrics`, where vLLM, SGLang,
 * Dynamo's frontend and the gateways have them. Null when there is no such page: a benchmark runs without it.
 */
export async function recogniseServer(origin: string): Promise<RecognisedServer | null> {
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
    // Not reachable, too slow or cut short: there is no page to speak of, and the benchmark does not need it.
    return null;
  }
}

/** The system that the page belongs to: of several the gateway, which passes an engine's families through. */
export function systemOf(page: string): string | null {
  return systemsOf(page)[0] ?? null;
}

/** As `systemOf`, of a page that is parsed. */
export function systemOfExposition({ columns, families }: Exposition): string | null {
  return systemsOfNames(new Set([...families.map(({ name }) => name), ...columns.names]))[0] ?? null;
}

/**
 * All systems whose families stand on the page: gateways, then engines, then what works inside them, e.g. `dynamo`,
 * `vllm`, `lmcache` for a Dynamo worker that passes the families of its engine through.
 */
export function systemsOf(page: string): string[] {
  return systemsOfNames(
    new Set(Array.from(page.matchAll(/^(?:# TYPE )?([a-zA-Z_:][\w:]*)/gm), ([, name]) => name ?? '')),
  );
}
