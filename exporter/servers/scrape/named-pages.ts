import type { TlsFiles } from '../../http-client/tls-files.ts';
import { findPages } from '../discovery/find-pages.ts';
import type { PageSearch } from '../discovery/page-search.ts';
import { readPageAccess, type PageCredentials } from './page-access.ts';
import type { Target } from './targets.ts';

/** A page as the user named it. What it sets itself replaces what is configured for all pages. */
export interface NamedPage {
  readonly target: Target;
  readonly credentials?: PageCredentials;
  readonly tls?: TlsFiles;
}

/** Pages that are found when the command starts, instead of one. */
export type SearchedPages = Omit<NamedPage, 'target'> & { readonly search: PageSearch };

/** What is configured for all pages that the user named. */
export interface CommonAccess {
  readonly credentials: PageCredentials;
  readonly tls: TlsFiles;
}

/**
 * The named pages, and those that are found, with their credentials and certificates. The common name of the certificate is
 * that of the benchmarked servers, so it is only used for pages on their hosts. Throws a `ConfigurationError`.
 */
export async function readNamedPages(
  pages: readonly (NamedPage | SearchedPages)[],
  common: CommonAccess,
  origins: readonly string[],
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<readonly Target[]> {
  const hosts = new Set(origins.map((origin) => new URL(origin).hostname));
  const named = await Promise.all(pages.map((page) => pagesOf(page, say)));
  return Promise.all(
    named.flat().map(async ({ target, credentials = common.credentials, tls }) => {
      const isMeasuredHost = hosts.has(new URL(target.url).hostname);
      const commonTls = isMeasuredHost ? common.tls : { ...common.tls, serverName: null };
      return { ...target, access: await readPageAccess(credentials, tls ?? commonTls, environment) };
    }),
  );
}

async function pagesOf(page: NamedPage | SearchedPages, say: (line: string) => void): Promise<readonly NamedPage[]> {
  if (!('search' in page)) return [page];
  const { search, ...access } = page;
  return (await findPages(search, say)).map((target) => ({ ...access, target }));
}
