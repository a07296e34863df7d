import { ownValue } from '../../core/text/own-value.ts';
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Host and port of an HTTP URL, the port also where the URL leaves it out: what Prometheus sets as the label `instance` of
 * a target. Null: not an HTTP URL.
 */
export function targetAddress(url: string): string | null {
  const parsed = URL.parse(url);
  const port = parsed === null ? undefined : parsed.port || ownValue(DEFAULT_PORTS, parsed.protocol);
  return parsed === null || !Object.hasOwn(DEFAULT_PORTS, parsed.protocol) ? null : `${parsed.hostname}:${port ?? ''}`;
}
