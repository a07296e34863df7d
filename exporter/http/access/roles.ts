import { type Role, ROLES } from '../../../core/api/service.ts';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { Reloaded } from '../../files/reloaded.ts';
import { yamlSection, type YamlSection } from '../../files/yaml-section.ts';

export type RoleSet = ReadonlySet<Role>;

/** Who has which roles. */
export interface Roles {
  /** By the name of a user of the web configuration file. */
  readonly users: ReadonlyMap<string, RoleSet>;
  readonly tokens: readonly TokenRoles[];
  /** Of clients without user and token. */
  readonly anonymous: RoleSet;
}

interface TokenRoles {
  /** SHA-256 of the token, 32 bytes. */
  readonly digest: Buffer;
  readonly roles: RoleSet;
}

const MAX_TOKENS = 1000;
const DIGEST = /^[0-9a-f]{64}$/;

/**
 * Reads a roles file. Throws a `ConfigurationError` that begins with `file` if it is not valid or names a user that
 * `isUser` does not know.
 */
export function parseRoles(text: string, file: string, isUser: (name: string) => boolean): Roles {
  const root = yamlSection(text, file);
  root.onlyHas(['users', 'tokens', 'anonymous']);
  const users = root.section('users');
  const tokens = root.section('tokens');
  if (tokens.keys().length > MAX_TOKENS) tokens.refuse('', `has more than ${MAX_TOKENS} tokens`);
  const roles: Roles = {
    users: new Map(users.keys().map((name) => [name, userRoles(users, name, isUser)])),
    tokens: tokens.keys().map((name) => tokenRoles(tokens.section(name))),
    anonymous: rolesOf(root, 'anonymous'),
  };
  const digests = roles.tokens.map(({ digest }) => digest.toString('hex'));
  const repeated = tokens.keys().find((_, i) => digests.indexOf(digests[i] ?? '') < i);
  if (repeated !== undefined) tokens.refuse(repeated, 'has the token of another entry');
  if (roles.users.size + roles.tokens.length + roles.anonymous.size === 0) {
    throw new ConfigurationError(`${file}: no one has a role; the keys are users, tokens, anonymous`);
  }
  return roles;
}

function userRoles(users: YamlSection, name: string, isUser: (name: string) => boolean): RoleSet {
  if (!isUser(name)) users.refuse(name, 'is not among basic_auth_users of --web-config-file');
  return rolesOf(users, name);
}

function tokenRoles(token: YamlSection): TokenRoles {
  token.onlyHas(['token_sha256', 'roles']);
  const hex = token.text('token_sha256') ?? '';
  if (!DIGEST.test(hex)) token.refuse('token_sha256', 'must be 64 digits: printf %s "$TOKEN" | sha256sum');
  return { digest: Buffer.from(hex, 'hex'), roles: rolesOf(token, 'roles') };
}

const rolesOf = (section: YamlSection, key: string): RoleSet =>
  new Set(section.texts(key, (text) => ROLES.some((role) => role === text), ROLES) as readonly Role[]);

/**
 * Reads a roles file, and reads it again when it has changed. Returns the roles in use. Throws a `ConfigurationError` if
 * it is not valid; `problem` receives one line for each later change that is not.
 */
export function rolesFile(
  path: string,
  isUser: (name: string) => boolean,
  problem: (line: string) => void,
): () => Roles {
  const roles = new Reloaded((read) => parseRoles(read(path), path, isUser), problem);
  return () => roles.current();
}
