/** Where alerts look for their runbooks unless `generate.ts --runbooks-url` says otherwise: `llmbench serve` on this machine. */
export const RUNBOOKS_URL = 'http://127.0.0.1:9469/runbooks';

/** Alerts in YAML whose `runbook_url` is below this URL. Throws a `TypeError` when it is not an HTTP URL. */
export function withRunbooks(alerts: string, base: string): string {
  const url = URL.parse(base);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new TypeError(`not an HTTP URL: ${base}`);
  const folder = url.href.replace(/\/+$/, '');
  return alerts.replace(
    /^( *runbook_url: ).*\/(\w+\.md)$/gm,
    (_, key: string, page: string) => `${key}${folder}/${page}`,
  );
}
