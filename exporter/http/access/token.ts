import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { isLoopback } from '../allowed-host.ts';
import { Problem } from '../problem.ts';
import type { Access } from './access.ts';
import type { Role } from '../../../core/api/service.ts';
import { signedInUser } from './access.ts';

/** Which clients on the loopback address must present the token too. */
export interface TokenRule {
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
export function bearerToken(request: Request): string | null {
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
