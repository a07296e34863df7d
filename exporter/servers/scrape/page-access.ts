import { environmentProxies, NO_PROXIES, type Proxies } from '../../http-client/proxy.ts';
import { secretVariable, readTlsFiles, type TlsFiles, type TlsSettings } from '../../http-client/tls-files.ts';

/**
 * What is sent with each request for a metrics page, and which certificates are accepted. May contain secrets: never
 * stored, never displayed.
 */
export interface PageAccess {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsSettings;
  /** Absent: none. */
  readonly proxies?: Proxies;
}

/** Of pages that the user did not name: nothing is sent to them. */
export const OPEN_ACCESS: PageAccess = { headers: {}, tls: {} };

/** The credentials of metrics pages, as the user configured them. */
export interface PageCredentials {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The environment variable with the bearer token; null: none. */
  readonly bearerVariable: string | null;
  /** Ignores the proxies of the environment; absent: they are used. */
  readonly direct?: boolean;
}

export const NO_CREDENTIALS: PageCredentials = { headers: {}, bearerVariable: null };

/**
 * The same with what the files and the environment contain. `bearerOption`: the option that names the variable. Throws a
 * `ConfigurationError`.
 */
export async function readPageAccess(
  { headers, bearerVariable, direct = false }: PageCredentials,
  tls: TlsFiles,
  environment: NodeJS.ProcessEnv,
  bearerOption = '--server-metrics-bearer-env',
): Promise<PageAccess> {
  const bearer =
    bearerVariable === null
      ? {}
      : { authorization: `Bearer ${secretVariable(bearerVariable, environment, bearerOption)}` };
  const proxies = direct ? NO_PROXIES : environmentProxies(environment);
  const access = { headers: { ...headers, ...bearer }, tls: await readTlsFiles(tls) };
  return proxies === NO_PROXIES ? access : { ...access, proxies };
}
