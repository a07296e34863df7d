import { isIPv4 } from 'node:net';

/** Whether the host of an origin is this machine's loopback interface. */
export function isLoopbackHost(origin: string): boolean {
  const host = URL.parse(origin)?.hostname ?? '';
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
