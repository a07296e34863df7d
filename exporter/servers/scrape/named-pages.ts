import type { TlsFiles } from '../../http-client/tls-files.ts';
import { findPages } from '../discovery/find-pages.ts';
import type { PageSearch } from '../discovery/page-search.ts';
import { readPageAccess, type PageAccess, type PageCredentials } from './page-access.ts';
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
  /** Of one search; absent: the default. */
  readonly maxFoundPages?: number;
}

/**
 * The named pages, and those that are found, with their credentials and certificates, which a service discovery gets too. The
 * common name of the certificate is that of the benchmarked servers, so it is only used on their hosts. Throws a
 * `ConfigurationError`.
 */
export async function readNamedPages(
  pages: readonly (NamedPage | SearchedPages)[],
  common: CommonAccess,
  origins: readonly string[],
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<readonly Target[]> {
  const hosts = new Set(origins.map((origin) => new URL(origin).hostname));
  const targets = await Promise.all(
    pages.map(async (page) => {
      const { credentials = common.credentials, tls } = page;
      const accessOf = (url: string): Promise<PageAccess> => {
        const commonTls = hosts.has(new URL(url).hostname) ? common.tls : { ...common.tls, serverName: null };
        const direct = common.credentials.direct ?? false;
        return readPageAccess({ ...credentials, direct }, tls ?? commonTls, environment);
      };
      const found =
        'search' in page ? await findPages(page.search, accessOf, say, common.maxFoundPages) : [page.target];
      return Promise.all(found.map(async (target) => ({ ...target, access: await accessOf(target.url) })));
    }),
  );
  return targets.flat();
}
