import type { IncomingMessage } from 'node:http';

const signedIn = new WeakMap<IncomingMessage, string>();

/** Records that user and password of a request were accepted. */
export const noteSignedIn = (request: IncomingMessage, user: string): void => void signedIn.set(request, user);

/** The user of a request whose password was accepted; null without. */
export const signedInUser = (request: IncomingMessage): string | null => signedIn.get(request) ?? null;
