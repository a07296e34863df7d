import type { IncomingMessage } from 'node:http';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import type { Role } from '../../../core/api/service.ts';
import { Problem } from '../problem.ts';
import type { Roles, RoleSet } from './roles.ts';
import { isLoopback } from '../allowed-host.ts';

/** Who may do what. */
export interface Access {
  /** The roles of the client that sent a request. */
  readonly roles: (request: Request) => RoleSet;
  /** Why a request of a client without the role is refused: 401 if credentials can help, else 403. */
  readonly refusal: (request: Request, role: Role) => Problem;
  /** Whether a page can offer what requires the role to the client, who may yet have to present credentials. */
  readonly offers: (request: Request, role: Role) => boolean;
  /** Whether a request is accepted without user and password where the web configuration has users. */
  readonly needsNoUser: (request: Request) => boolean;
  /** Whether the pages outside the API, such as /metrics, require the role `read`. */
  readonly protectsPages: boolean;
}

/** Whether a client may read. */
export const mayRead = (access: Access, request: Request): boolean => access.roles(request).has('read');

/** Throws the refusal of requests without the role. */
export function requireRole(access: Access, role: Role): RequestHandler {
  return (request, _response, next) => {
    if (!access.roles(request).has(role)) throw access.refusal(request, role);
    next();
  };
}

const signedIn = new WeakMap<IncomingMessage, string>();

/** Records that user and password of a request were accepted. */
export const noteSignedIn = (request: IncomingMessage, user: string): void => void signedIn.set(request, user);

/** The user of a request whose password was accepted; null without. */
export const signedInUser = (request: IncomingMessage): string | null => signedIn.get(request) ?? null;

/** Which clients on the loopback address must present the token too. */
interface TokenRule {
  /** All of them. */
  readonly always: boolean;
  /** Those for which no reverse proxy on this machine names this machine in the last `X-Forwarded-For`. */
  readonly trustProxy: boolean;
}

export interface TokenAccessOptions {
  /** Required from clients that the rule does not exempt and that have not signed in; null: every client reads, no client writes. */
  readonly token: string | null;
  /** Who is exempt from the token for reading; absent: clients on the loopback address. */
  readonly rule?: TokenRule;
  /** Whether clients with the token may change baselines. */
  readonly allowBaselineChanges?: boolean;
}

const EXEMPT_LOOPBACK: TokenRule = { always: false, trustProxy: false };
const ROLE_OF_FILE: Partial<Record<Role, string>> = {
  'write-baseline': 'changes over HTTP are not allowed; `llmbench serve --allow-baseline-changes` allows them',
  annotate: 'changes of tags are not allowed; the role annotate in `llmbench serve --roles-file` allows them',
};

/**
 * One token, as `Authorization: Bearer <token>`. Whatever changes something requires it from every client, also over the
 * loopback address, so that no program or page on this machine changes anything by accident.
 */
export function tokenAccess({
  token,
  rule = EXEMPT_LOOPBACK,
  allowBaselineChanges = false,
}: TokenAccessOptions): Access {
  const expected = token === null ? null : sha256(token);
  const hasToken = (request: Request): boolean => {
    const given = bearerToken(request);
    return expected !== null && given !== null && timingSafeEqual(sha256(given), expected);
  };
  const ofToken: readonly Role[] = ['read', 'start-runs', ...(allowBaselineChanges ? ['write-baseline' as const] : [])];
  return {
    roles(request) {
      if (hasToken(request)) return new Set(ofToken);
      const isReading = token === null || isExempt(request, rule) || signedInUser(request) !== null;
      return new Set(isReading ? ['read'] : []);
    },
    refusal(_request, role) {
      const never = ofToken.includes(role) ? undefined : ROLE_OF_FILE[role];
      if (never !== undefined) return new Problem(403, never);
      const headers = { 'WWW-Authenticate': 'Bearer' };
      return new Problem(401, 'a token is required: Authorization: Bearer …', { headers });
    },
    // The app asks without the token and then offers to enter it.
    offers: (_request, role) => ofToken.includes(role),
    needsNoUser: hasToken,
    protectsPages: false,
  };
}

/** The token of a request; null without one. */
function bearerToken(request: Request): string | null {
  return /^Bearer +(\S+)$/i.exec(request.get('authorization') ?? '')?.[1] ?? null;
}

/** A hash of fixed length, as required by the constant-time comparison. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function isExempt(request: Request, { always, trustProxy }: TokenRule): boolean {
  if (always || !isLoopback(request.socket.remoteAddress)) return false;
  if (!trustProxy) return true;
  // Entries before the last come from the client and prove nothing. Without the header, the proxy names no client.
  return isLoopback(request.get('x-forwarded-for')?.split(',').at(-1)?.trim());
}

const NO_ROLES: RoleSet = new Set();

/** Access by roles of users and tokens; `current` returns those in use. No client is exempt, also not on this machine. */
export function roleAccess(current: () => Roles): Access {
  const rolesOfToken = (request: Request): RoleSet | null => {
    const token = bearerToken(request);
    const digest = sha256(token ?? '');
    const found = current().tokens.find((each) => timingSafeEqual(each.digest, digest));
    return token === null || found === undefined ? null : found.roles;
  };
  const isAnonymous = (request: Request): boolean => request.get('authorization') === undefined;
  /** Null: the request has no accepted credentials. */
  const ofClient = (request: Request): RoleSet | null => {
    const user = signedInUser(request);
    return user === null ? rolesOfToken(request) : (current().users.get(user) ?? NO_ROLES);
  };
  const roles = (request: Request): RoleSet =>
    ofClient(request) ?? (isAnonymous(request) ? current().anonymous : NO_ROLES);
  return {
    roles,
    refusal(request, role) {
      if (ofClient(request) !== null) return new Problem(403, `the role ${role} is required`);
      const schemes = current().users.size === 0 ? 'Bearer' : 'Basic, Bearer';
      const headers = { 'WWW-Authenticate': schemes };
      return new Problem(401, `a user or a token with the role ${role} is required`, { headers });
    },
    offers: (request, role) => roles(request).has(role),
    needsNoUser: (request) => rolesOfToken(request) !== null || (isAnonymous(request) && current().anonymous.size > 0),
    protectsPages: true,
  };
}
