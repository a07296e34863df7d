import { parseTarget } from '../../servers/scrape/targets.ts';
import { parsePageSearch } from '../../servers/discovery/page-search.ts';
import type { NamedPage, SearchedPages } from '../../servers/scrape/named-pages.ts';
import { scrapeHeaders } from './header-lines.ts';

/** Keys of a metrics page that a scenario file writes as a map. */
export const PAGE_FIELDS = [
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
export function pageOfFields(
  fields: Readonly<Partial<Record<PageField, readonly string[]>>>,
): NamedPage | SearchedPages {
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
