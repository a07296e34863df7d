import { isIPv4 } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

/** Whether the host of a URL is this machine: its loopback interface, its name, or the address of an interface. */
export function isThisMachine(url: string): boolean {
  const host = (URL.parse(url)?.hostname ?? '').replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))) return true;
  if (host === '') return false;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map(({ address }) => address) ?? []);
  return host === hostname().toLowerCase() || own.includes(host);
}
