import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { Problem } from '../problem.ts';
import type { Access } from './access.ts';
import type { Roles, RoleSet } from './roles.ts';
import { signedInUser } from './access.ts';
import { bearerToken, sha256 } from './token.ts';

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
