import type { TlsFiles } from '../../http-client/tls-files.ts';
import { findPages, searchPages } from '../discovery/find-pages.ts';
import { type TargetSearch, searchName, type PageSearch } from '../discovery/search-watch.ts';
import { type Target, readPageAccess, type PageAccess, type PageCredentials } from './targets.ts';

/** A page as the user named it. What it sets itself replaces what is configured for all pages. */
export interface NamedPage {
  readonly target: Target;
  readonly credentials?: PageCredentials;
  readonly tls?: TlsFiles;
}

/** Pages that are found, instead of one. */
export type SearchedPages = Omit<NamedPage, 'target'> & { readonly search: PageSearch };

/** What is configured for all pages that the user named. */
interface CommonAccess {
  readonly credentials: PageCredentials;
  readonly tls: TlsFiles;
  /** Of one search; absent: the default. */
  readonly maxFoundPages?: number;
}

/** The pages of a command, and the searches that found some of them. */
export interface NamedTargets {
  readonly targets: readonly Target[];
  readonly searches: readonly TargetSearch[];
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
): Promise<NamedTargets> {
  const hosts = new Set(origins.map((origin) => new URL(origin).hostname));
  const read = await Promise.all(
    pages.map(async (page): Promise<{ targets: readonly Target[]; search: TargetSearch | null }> => {
      const { credentials = common.credentials, tls } = page;
      const known = new Map<boolean, Promise<PageAccess>>();
      // One for many pages: they share connections, and a search that is repeated reads no file again.
      const accessOf = (url: string): Promise<PageAccess> => {
        const isServer = hosts.has(new URL(url).hostname);
        const direct = common.credentials.direct ?? false;
        const pageTls = tls ?? (isServer ? common.tls : { ...common.tls, serverName: null });
        const access = known.get(isServer) ?? readPageAccess({ ...credentials, direct }, pageTls, environment);
        known.set(isServer, access);
        return access;
      };
      const withAccess = (targets: readonly Target[]): Promise<readonly Target[]> =>
        Promise.all(targets.map(async (target) => ({ ...target, access: await accessOf(target.url) })));
      if (!('search' in page)) return { targets: await withAccess([page.target]), search: null };
      const { search } = page;
      const found = await withAccess(await findPages(search, accessOf, say, common.maxFoundPages));
      const again = async (): Promise<readonly Target[]> =>
        withAccess((await searchPages(search, accessOf, common.maxFoundPages)).targets);
      return { targets: found, search: { name: searchName(search), found, again } };
    }),
  );
  return { targets: read.flatMap(({ targets }) => targets), searches: read.flatMap(({ search }) => search ?? []) };
}
