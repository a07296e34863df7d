import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigurationError, ExpectedError, reasonOf } from '../../errors/expected-error.ts';
import { roleAccess, tokenAccess, type Access } from '../../http/access/access.ts';
import type { WebConfigFile } from '../../http/web-config/web-config.ts';
import type { ServiceStarts } from '../../starts/starts.ts';
import { CliError } from '../failure.ts';
import {
  flag,
  text,
  givenArguments,
  parsedValues,
  valuesOf,
  type GivenArguments,
  type Options,
  type OptionValues,
} from './options.ts';
import { requestedWebConfig } from './tls-options.ts';

const MIN_CHARACTERS = 16;

const READABLE_BY_ALL = 0o004;

/**
 * The token of a file, without the white space around it; null without a file. `say` receives a line if every user of the
 * machine can read the file. Throws a `CliError` without the token.
 */
export async function apiToken(path: string | null, say: (line: string) => void): Promise<string | null> {
  if (path === null) return null;
  let text: string;
  try {
    text = await readFile(path, 'utf8');
    const { mode } = await stat(path);
    if ((mode & READABLE_BY_ALL) !== 0) {
      say(`--api-token-file: every user of this machine can read ${path}; chmod o-r ${path}`);
    }
  } catch (error) {
    throw new CliError(`--api-token-file ${path} cannot be read: ${reasonOf(error)}`);
  }
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token) && token.length >= MIN_CHARACTERS) return token;
  throw new CliError(`--api-token-file ${path} must hold one token of at least ${MIN_CHARACTERS} printable characters`);
}

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

export const ALLOW_RUNS = text(
  'FILE',
  'scenarios that clients may start by name, as YAML; requires --api-token-file or --roles-file; changes apply at once',
  null,
  { requires: ['--api-token-file or --roles-file: who may start runs must be stated'] },
);

/** What clients may start; null without a file. `say` receives a line for each later change of it that is not valid. */
export async function allowedStarts(
  path: string | null,
  runsDirectory: string,
  say: (line: string) => void,
): Promise<ServiceStarts | null> {
  if (path === null) return null;
  const { serviceStarts } = await import('../../starts/starts.ts');
  const { runStarter } = await import('../../starts/run-queue.ts');
  const { RUN_OPTIONS } = await import('./run-options.ts');
  // What the words require may be in a scenario file.
  const problemOf = problemOfOptions(RUN_OPTIONS, (given) => given.values.has('config'));
  try {
    const startRun = runStarter(process.argv[1] ?? '', process.env);
    return serviceStarts({ file: path, startRun, runsDirectory: resolve(runsDirectory), problemOf, problem: say });
  } catch (error) {
    if (error instanceof ConfigurationError) throw new CliError(`--allow-runs: ${error.message}`);
    throw error;
  }
}

/** Returns what is wrong with options that a file names, in one line; null: nothing. `isPart`: what they require may be elsewhere. */
export const problemOfOptions =
  (options: Options, isPart: (given: GivenArguments) => boolean = () => false) =>
  (words: readonly string[]): string | null => {
    try {
      const given = givenArguments(options, words, {});
      (isPart(given) ? parsedValues : valuesOf)(options, given);
      return null;
    } catch (error) {
      if (error instanceof ExpectedError) return error.message.replaceAll('\n', ';');
      throw error;
    }
  };
