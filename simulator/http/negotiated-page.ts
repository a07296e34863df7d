import type { IncomingMessage, ServerResponse } from 'node:http';

import { sendPage } from './site.ts';

/** Sends a page of the Python client in the format that the scraper requested. */
export function sendNegotiatedPage(request: IncomingMessage, response: ServerResponse, page: string): void {
  const { contentType, body } = negotiatePythonPage(request.headers.accept, page);
  sendPage(response, contentType, body);
}

/** A page in the format that a scraper requested. */
export interface NegotiatedPage {
  readonly contentType: string;
  readonly body: string;
}

const TEXT = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Puts a page of the text format into what the Python client's web app makes of an `Accept` header
 * (`prometheus_client.exposition.choose_encoder`, 0.26): it takes the first format of the header that it knows, whatever
 * the weights. In OpenMetrics it writes `sglang_` for `sglang:` in the samples, though not in the comments, unless the
 * scraper allows UTF-8 names (prometheus/client_python issue 1177).
 */
export function negotiatePythonPage(accept: string | undefined, page: string): NegotiatedPage {
  for (const entry of (accept ?? '').split(',')) {
    const [type, ...parameters] = entry.split(';').map((part) => part.trim());
    const version = valueOf(parameters, 'version');
    const escaping = valueOf(parameters, 'escaping') === 'allow-utf-8' ? 'allow-utf-8' : 'underscores';
    if (type === 'application/openmetrics-text' && (version === null || isStable(version))) {
      const reported = version === null ? '' : `; escaping=${escaping}`;
      const contentType = `${type}; version=${version ?? '1.0.0'}; charset=utf-8${reported}`;
      return { contentType, body: openMetrics(page, escaping === 'underscores') };
    }
    if (type === 'text/plain' && version !== null && isStable(version)) {
      return { contentType: `text/plain; version=1.0.0; charset=utf-8; escaping=${escaping}`, body: page };
    }
  }
  return { contentType: TEXT, body: page };
}

function valueOf(parameters: readonly string[], key: string): string | null {
  const found = parameters.find((parameter) => parameter.startsWith(`${key}=`));
  return found === undefined ? null : found.slice(key.length + 1);
}

function isStable(version: string): boolean {
  return Number(version.split('.')[0]) >= 1;
}

/** Comments of counters without `_total`, quotation marks in HELP escaped, and the mark of the end. */
function openMetrics(page: string, withoutColons: boolean): string {
  const counters = new Set([...page.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name = '']) => name));
  const familyName = (name: string): string => (counters.has(name) ? name.replace(/_total$/, '') : name);
  const lines = page.split('\n').map((line) => {
    const [, keyword = '', name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (keyword !== '') return `# ${keyword} ${familyName(name)} ${rest.replaceAll('"', '\\"')}`;
    return withoutColons ? line.replace(/^[^{ ]+/, (sampleName) => sampleName.replaceAll(':', '_')) : line;
  });
  return `${lines.join('\n')}# EOF\n`;
}
