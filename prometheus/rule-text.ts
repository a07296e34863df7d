/** Two scrapes make a rate; the window also has room for one that fails, and for one that is late. */
const SCRAPES = 4;

/** The window of the rates as a Prometheus duration. */
export function rateWindow(maxScrapeIntervalSeconds: number): string {
  const seconds = SCRAPES * maxScrapeIntervalSeconds;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/**
 * Rules in YAML with the window of their rates. An alert that waits until a single event has left the window has a
 * comment about it beside its `for`.
 */
export function withRateWindow(yaml: string, maxScrapeIntervalSeconds: number): string {
  const window = rateWindow(maxScrapeIntervalSeconds);
  return yaml
    .replace(/(\brate\((?:"[^"]*"|[^"()[\]])*\[)\w+(?=\])/g, `$1${window}`)
    .replace(/^( *for: )\w+(?= # The window of the rates)/gm, `$1${window}`);
}

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
