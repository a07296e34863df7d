import type { RequestTarget } from '../load/transports/target.ts';
import { readNamedPages } from '../servers/scrape/named-pages.ts';
import { NO_CREDENTIALS, readPageAccess, type PageAccess } from '../servers/scrape/page-access.ts';
import type { Target } from '../servers/scrape/targets.ts';
import type { RunRequest } from './run-request.ts';

/** Which metrics pages a run reads, and with which credentials. */
export interface MetricsPages {
  /** Of the benchmarked servers. Behind a unix socket there is none: the URL is only a name. */
  readonly origins: readonly string[];
  /** Prefixes of their APIs' paths by origin; absent: none has one. */
  readonly prefixes?: ReadonlyMap<string, string>;
  /** For the pages of the benchmarked servers. */
  readonly access: PageAccess;
  readonly named: readonly Target[];
}

/** Reads the files and variables that the request names. Throws a `ConfigurationError` before anything is sent. */
export async function readMetricsPages(
  { serverMetrics, metricsCredentials = NO_CREDENTIALS, traffic }: RunRequest,
  servers: readonly RequestTarget[],
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<MetricsPages> {
  const { tls, unixSocket } = traffic.connection;
  const reached = unixSocket === null ? servers : [];
  const origins = reached.map(({ origin }) => origin);
  const common = { credentials: metricsCredentials, tls };
  return {
    origins,
    prefixes: new Map(reached.map(({ origin, prefix }) => [origin, prefix])),
    access: await readPageAccess(metricsCredentials, tls, environment),
    named: await readNamedPages(serverMetrics?.targets ?? [], common, origins, environment, say),
  };
}
