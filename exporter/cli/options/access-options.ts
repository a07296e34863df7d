import { ConfigurationError } from '../../errors/configuration-error.ts';
import type { Access } from '../../http/access/access.ts';
import { tokenAccess } from '../../http/access/token.ts';
import type { WebConfigFile } from '../../http/web-config/web-config-file.ts';
import { CliError } from '../failure.ts';
import { apiToken } from './api-token.ts';
import { flag, text, type OptionValues } from './options.ts';
import { requestedWebConfig } from './web-config-option.ts';

const OF_TOKEN = ['allow-baseline-changes', 'api-token-always', 'trust-proxy'];
const NEEDS_TOKEN = { requires: ['--api-token-file'] };

export const ACCESS_OPTIONS = {
  'api-token-file': text('FILE', 'file with the token that the API requires from other machines', null),
  'allow-baseline-changes': flag(
    'allow clients with the API token to change baselines; requires --api-token-file',
    NEEDS_TOKEN,
  ),
  'api-token-always': flag('require the token from clients on this machine too', NEEDS_TOKEN),
  'web-config-file': text(
    'FILE',
    "TLS, users and rate limit, in the format of Prometheus' web configuration file; changes apply at once",
    null,
  ),
  'roles-file': text(
    'FILE',
    'roles of users and tokens instead of the API token, as YAML: read, annotate, write-baseline, start-runs; changes apply at once',
    null,
    {
      conflicts: Object.fromEntries(
        ['api-token-file', ...OF_TOKEN].map((name) => [name, 'the roles file states who may do what']),
      ),
    },
  ),
  'trust-proxy': flag(
    'behind a reverse proxy on this machine that sets X-Forwarded-For: require the token unless it names this machine',
    NEEDS_TOKEN,
  ),
};

export interface RequestedAccess {
  readonly access: Access;
  readonly webConfig: WebConfigFile | null;
  /** Whether everybody who reaches the address can read. */
  readonly isOpen: boolean;
}

/** Who may do what. `say` receives a line for a token file that every user can read,
 * and for each later change of a file that is not valid. Throws a `CliError`. */
export async function requestedAccess(
  options: OptionValues<typeof ACCESS_OPTIONS>,
  say: (line: string) => void,
): Promise<RequestedAccess> {
  const { 'roles-file': rolesPath } = options;
  const token = await apiToken(options['api-token-file'], say);
  const webConfig = await requestedWebConfig('web-config-file', options['web-config-file'], say);
  if (rolesPath !== null) return { ...(await byRoles(rolesPath, webConfig, say)), webConfig };
  const access = tokenAccess({
    token,
    rule: { always: options['api-token-always'], trustProxy: options['trust-proxy'] },
    allowBaselineChanges: options['allow-baseline-changes'],
  });
  return { access, webConfig, isOpen: token === null && !requiresSignIn(webConfig) };
}

async function byRoles(
  path: string,
  webConfig: WebConfigFile | null,
  say: (line: string) => void,
): Promise<Pick<RequestedAccess, 'access' | 'isOpen'>> {
  const { rolesFile } = await import('../../http/access/roles.ts');
  const { roleAccess } = await import('../../http/access/role-access.ts');
  try {
    const current = rolesFile(path, (name) => webConfig?.current().users.has(name) ?? false, say);
    return { access: roleAccess(current), isOpen: current().anonymous.has('read') };
  } catch (error) {
    if (error instanceof ConfigurationError) throw new CliError(`--roles-file: ${error.message}`);
    throw error;
  }
}

const requiresSignIn = (webConfig: WebConfigFile | null): boolean => {
  const { users, tls } = webConfig?.current() ?? {};
  return (users?.size ?? 0) > 0 || tls?.clientAuth === 'RequireAndVerifyClientCert';
};
