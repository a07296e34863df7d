import type { TlsFiles } from '../../http-client/tls-files.ts';
import { readPageAccess, type PageCredentials } from './page-access.ts';
import type { Target } from './targets.ts';

/** A page as the user named it. What it sets itself replaces what is configured for all pages. */
export interface NamedPage {
  readonly target: Target;
  readonly credentials?: PageCredentials;
  readonly tls?: TlsFiles;
}

/** What is configured for all pages that the user named. */
export interface CommonAccess {
  readonly credentials: PageCredentials;
  readonly tls: TlsFiles;
}

/**
 * The named pages with their credentials and certificates. The common name of the certificate is that of the benchmarked
 * servers, so it is only used for pages on their hosts. Throws a `ConfigurationError`.
 */
export async function readNamedPages(
  pages: readonly NamedPage[],
  common: CommonAccess,
  origins: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<readonly Target[]> {
  const hosts = new Set(origins.map((origin) => new URL(origin).hostname));
  return Promise.all(
    pages.map(async ({ target, credentials = common.credentials, tls }) => {
      const isMeasuredHost = hosts.has(new URL(target.url).hostname);
      const commonTls = isMeasuredHost ? common.tls : { ...common.tls, serverName: null };
      return { ...target, access: await readPageAccess(credentials, tls ?? commonTls, environment) };
    }),
  );
}
