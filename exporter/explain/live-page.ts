import { ownValue } from '../../core/text/nearest-names.ts';
import { ExpectedError, hasCode } from '../errors/expected-error.ts';
import { NEEDS_CREDENTIALS, NEEDS_SWITCH } from '../servers/scrape/recognize.ts';
import type { Exposition } from '../../core/exposition/index.ts';
import { ExpositionError, parseExposition } from '../../core/exposition/index.ts';
import { OPEN_ACCESS, type PageAccess } from '../servers/scrape/targets.ts';
import type { PageLimits, ReceivedPage } from '../servers/scrape/page-request.ts';
import { PageClient } from '../servers/scrape/page-request.ts';
import { iterationRows } from '../servers/scrape/trtllm-iteration-page.ts';

/** The page of a live server, and what had to be done to get it. */
interface FetchedPage {
  /** Where the page was found. */
  readonly url: string;
  readonly page: Exposition;
  readonly remarks: readonly string[];
}

const LIMITS: PageLimits = {
  connectTimeoutSeconds: 5,
  readTimeoutSeconds: 10,
  totalTimeoutSeconds: 10,
  maxBytes: 64 * 1024 * 1024,
};

/** The classic format first: in OpenMetrics some servers write other names (prometheus/client_python #1177). */
const HEADERS = { accept: 'text/plain;version=0.0.4;q=0.9,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1' };

/**
 * Fetches and parses a metrics page, within 10 s and 64 MiB. TensorRT-LLM's JSON is followed to the Prometheus page
 * beside it.
 *
 * @throws ExpectedError ('failed') when there is none
 */
export async function fetchLivePage(
  url: URL,
  access: PageAccess = OPEN_ACCESS,
  limits: PageLimits = LIMITS,
): Promise<FetchedPage> {
  const client = new PageClient(limits, () => performance.now() * 1e6, {
    ...access,
    headers: { ...HEADERS, ...access.headers },
  });
  try {
    const body = await get(client, url);
    const rows = isJson(body) ? iterationRows(new TextDecoder().decode(body.bytes)) : null;
    if (rows === null) return { url: url.href, page: parsed(url, body), remarks: [] };
    return await pageBeside(client, url, rows.length);
  } finally {
    await client.close();
  }
}

async function get(client: PageClient, url: URL): Promise<ReceivedPage> {
  const response = await client.get(url.href);
  if (response.kind === 'page') return response;
  const hint = ownValue(HINTS, response.message);
  throw new ExpectedError('failed', `${shown(url)}: ${response.message}${hint === undefined ? '' : `; ${hint}`}`);
}

const HINTS: Readonly<Record<string, string>> = {
  'HTTP 401': NEEDS_CREDENTIALS,
  'HTTP 403': NEEDS_CREDENTIALS,
  'HTTP 404': NEEDS_SWITCH,
};

function parsed(url: URL, body: ReceivedPage): Exposition {
  if (/html/i.test(body.contentType ?? '') || startsWith(body, '<'))
    throw new ExpectedError('failed', `${shown(url)}: the response is HTML, not metrics`);
  if (isJson(body)) throw new ExpectedError('failed', `${shown(url)}: the response is JSON that is not metrics`);
  try {
    const page = parseExposition(body.bytes, body.contentType);
    if (page.families.length === 0) throw new ExpectedError('failed', `${shown(url)}: the page holds no metrics`);
    return page;
  } catch (error) {
    if (!(error instanceof ExpositionError)) throw error;
    throw new ExpectedError('failed', `${shown(url)}: the page cannot be parsed as metrics: ${error.message}`);
  }
}

async function pageBeside(client: PageClient, url: URL, rows: number): Promise<FetchedPage> {
  const drained =
    `${shown(url)} answers TensorRT-LLM's iteration statistics in JSON, not Prometheus text; ` +
    `each read takes its rows away from other readers, this one took ${rows}`;
  const beside = new URL('/prometheus/metrics', url);
  try {
    return {
      url: beside.href,
      page: parsed(beside, await get(client, beside)),
      remarks: [`${drained}; read instead: ${shown(beside)}`],
    };
  } catch (error) {
    if (!hasCode(error, 'failed')) throw error;
    throw new ExpectedError('failed', `${drained}. Its Prometheus page is not available either: ${error.message}`);
  }
}

/** Without user info and query, which may hold secrets. */
const shown = (url: URL): string => `${url.origin}${url.pathname}`;

const firstCharacter = ({ bytes }: ReceivedPage): string =>
  /\S/.exec(new TextDecoder().decode(bytes.subarray(0, 64)))?.[0] ?? '';

const startsWith = (body: ReceivedPage, character: string): boolean => firstCharacter(body) === character;

const isJson = (body: ReceivedPage): boolean =>
  /^application\/([a-z.-]+\+)?json\b/i.test(body.contentType ?? '') || startsWith(body, '[') || startsWith(body, '{');
