import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import type { Role } from '../../../core/api/service.ts';
import type { Problem } from '../problem.ts';
import type { RoleSet } from './roles.ts';

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
