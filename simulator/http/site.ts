import type { ServerResponse, IncomingMessage } from 'node:http';
import type { Listening } from '../faults/restarting-server.ts';
import { ApiError, sendJson } from './json-body.ts';
import { RouteServer, type RouteHandler } from './route-server.ts';

/** The port of a metrics page that is not on that of the API. It is kept, so that the next start takes the same. */
export interface PagePort {
  port: number;
  /** Whether another port will do when this one is in use. */
  isPreferred: boolean;
}

/** The port that a system uses by default for a page, or, unless `isWanted`, a free one. */
export function pagePort(defaultPort: number, isWanted = false): PagePort {
  return isWanted ? { port: defaultPort, isPreferred: true } : { port: 0, isPreferred: false };
}

/** Starts to serve a page at its port. Throws the error of node:net if that is not possible. */
export async function listenAt(server: Listening, address: PagePort, host: string): Promise<void> {
  try {
    address.port = await server.listen(address.port, host);
  } catch (error) {
    if (!address.isPreferred || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    address.port = await server.listen(0, host);
  }
  address.isPreferred = false;
}

/** Sends a metrics page. */
export function sendPage(response: ServerResponse, contentType: string, page: string): void {
  const body = Buffer.from(page);
  response.writeHead(200, { 'content-type': contentType, 'content-length': body.length });
  response.end(body);
}

/** A server with nothing but `/metrics`, and `/health` where the real one has it. */
export function metricsServer(contentType: string, page: () => string): RouteServer {
  return new RouteServer({
    routes: new Map<string, RouteHandler>([
      ['GET /metrics', (_request, response) => sendPage(response, contentType, page())],
      ['GET /health', (_request, response) => sendJson(response, 200, '{"status":"ready"}')],
    ]),
    notFound: (_request, response) => void response.writeHead(404, { 'content-length': 0 }).end(),
    failed: (error, response) => {
      const message = error instanceof Error ? error.message : String(error);
      sendJson(response, 500, new ApiError(500, 'InternalServerError', message).body());
    },
  });
}

/** A server on a port of its own beside the main one. */
export interface SidePage {
  readonly server: Listening;
  readonly address: PagePort;
}

/** Several servers that begin and end together: one with the API, the others with metrics pages. */
export class Site implements Listening {
  readonly #main: Listening;
  readonly #side: readonly SidePage[];
  readonly #closed: () => void;

  /** @param closed called after the servers have ended */
  constructor(main: Listening, side: readonly SidePage[], closed: () => void) {
    this.#main = main;
    this.#side = side;
    this.#closed = closed;
  }

  /** @returns the port of the main server */
  async listen(port: number, host: string): Promise<number> {
    const own = await this.#main.listen(port, host);
    for (const { server, address } of this.#side) await listenAt(server, address, host);
    return own;
  }

  async close(): Promise<void> {
    await Promise.all([this.#main, ...this.#side.map(({ server }) => server)].map((server) => server.close()));
    this.#closed();
  }
}

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
