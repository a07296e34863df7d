import type { IncomingMessage } from 'node:http';

const signedIn = new WeakSet<IncomingMessage>();

/** Records that user and password of a request were accepted. */
export const noteSignedIn = (request: IncomingMessage): void => void signedIn.add(request);

/** Whether user and password of a request were accepted. */
export const isSignedIn = (request: IncomingMessage): boolean => signedIn.has(request);
