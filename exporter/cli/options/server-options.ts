import { FRAMING_HEADERS } from '../../load/transports/raw/http-head.ts';
import { MAX_PAGES, parsePageSearch } from '../../servers/discovery/search-watch.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../../servers/files/exports/aiperf-view.ts';
import type { NamedPage, SearchedPages } from '../../servers/scrape/named-pages.ts';
import { parseTarget, type PageCredentials } from '../../servers/scrape/targets.ts';
import { CliError } from '../failure.ts';
import { choice, integer, text, texts, type Option, type OptionValues } from './options.ts';
import { headersOf, type PROXY_OPTIONS } from './tls-options.ts';

/** What a scrape negotiates itself: another format or a compressed page could not be read. */
const SCRAPE_HEADERS: ReadonlySet<string> = new Set([...FRAMING_HEADERS, 'accept', 'accept-encoding', 'range']);

/** Headers of requests for metrics pages. Throws a `CliError` without the value. */
export function scrapeHeaders(lines: readonly string[], option: string): Readonly<Record<string, string>> {
  return headersOf(lines, option, SCRAPE_HEADERS);
}

/** Keys of a metrics page that a scenario file writes as a map. */
const PAGE_FIELDS = [
  'url',
  'header',
  'bearer-env',
  'tls-ca',
  'tls-cert',
  'tls-key',
  'tls-server-name',
  'tls-insecure',
] as const;

type PageField = (typeof PAGE_FIELDS)[number];

/** A map of `PAGE_FIELDS` to texts. Throws an `Error` that says what is expected, without the value of a header. */
function pageOfFields(fields: Readonly<Partial<Record<PageField, readonly string[]>>>): NamedPage | SearchedPages {
  const one = (field: PageField): string | null => fields[field]?.at(-1) ?? null;
  const any = (names: readonly PageField[]): boolean => names.some((name) => fields[name] !== undefined);
  const url = one('url');
  if (url === null) throw new Error('a metrics page with url, for example url: localhost:8081');
  const credentials = {
    headers: scrapeHeaders(fields.header ?? [], 'header'),
    bearerVariable: one('bearer-env'),
  };
  const tls = {
    caFile: one('tls-ca'),
    certFile: one('tls-cert'),
    keyFile: one('tls-key'),
    serverName: one('tls-server-name'),
    insecure: one('tls-insecure') === 'true',
  };
  const search = parsePageSearch(url);
  return {
    ...(search === null ? { target: parseTarget(url) } : { search }),
    ...(any(['header', 'bearer-env']) ? { credentials } : {}),
    ...(any(['tls-ca', 'tls-cert', 'tls-key', 'tls-server-name', 'tls-insecure']) ? { tls } : {}),
  };
}

const parts = (given: readonly string[]): string[] =>
  given.flatMap((text) => text.split(',')).filter((text) => text !== '');

/** Addresses of metrics pages, each checked; in a scenario file also maps with the credentials of one page. */
export function targets(help: string): Option<readonly (NamedPage | SearchedPages)[]> {
  return {
    help,
    value: 'URL…',
    multiple: true,
    isList: true,
    fields: PAGE_FIELDS,
    parse: (given) => given.flatMap(pages),
    fallback: [],
  };
}

function pages(given: string): readonly (NamedPage | SearchedPages)[] {
  if (given.startsWith('{')) return [pageOfFields(JSON.parse(given) as Parameters<typeof pageOfFields>[0])];
  // A selector may contain commas.
  const search = parsePageSearch(given);
  if (search !== null) return [{ search }];
  try {
    return parts([given]).map((address) => ({ target: parseTarget(address) }));
  } catch (error) {
    throw new Error(`an address such as localhost:8000 or triton=host (${(error as Error).message})`, { cause: error });
  }
}

/** Credentials of the metrics pages that the user names. */
export const PAGE_CREDENTIAL_OPTIONS = {
  'server-metrics-header': texts(
    'NAME:VALUE',
    'a header to send to the metrics pages of the servers and of --server-metrics and --gpu-telemetry; may be repeated',
  ),
  'server-metrics-bearer-env': text('VAR', 'environment variable with a bearer token for the same pages', null),
};

/** How many pages one search of `--server-metrics` may find. */
export const FOUND_PAGES_OPTIONS = {
  'max-found-pages': integer(
    'the most metrics pages that one k8s: or http-sd: may find; more are a selection by mistake',
    { min: 1, max: 10_000 },
    MAX_PAGES,
  ),
};

/** Throws a `CliError` without the values of the headers. */
export function pageCredentials(
  options: OptionValues<typeof PAGE_CREDENTIAL_OPTIONS & typeof PROXY_OPTIONS>,
): PageCredentials {
  const headers = scrapeHeaders(options['server-metrics-header'], '--server-metrics-header');
  const bearerVariable = options['server-metrics-bearer-env'];
  if (bearerVariable !== null && headers['authorization'] !== undefined)
    throw new CliError('--server-metrics-bearer-env and an authorization header cannot be used together');
  return { headers, bearerVariable, direct: options['no-proxy'] };
}

export const formats: Option<readonly ExportFormat[]> = {
  help: `write server_metrics_export.* as AIPerf does: any of ${EXPORT_FORMATS.join(' ')}`,
  value: 'FORMAT…',
  multiple: true,
  isList: true,
  parse: (given) =>
    parts(given).map((name) => {
      const format = EXPORT_FORMATS.find((each) => each === name);
      if (format === undefined) throw new Error(`any of ${EXPORT_FORMATS.join(', ')}`);
      return format;
    }),
  fallback: [],
};

export const definitions = choice(
  ['llmbench', 'aiperf'] as const,
  "definitions of the servers' statistics",
  'llmbench',
);

/** AIPerf's limits of its collection interval. */
export const INTERVAL_RANGE = { min: 0.001, max: 300 };
/** AIPerf's interval is 0.333 s; each scrape takes time from the server under test, so our default is longer. */
export const DEFAULT_INTERVAL_SECONDS = 1;
