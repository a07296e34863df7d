import { createReadStream, existsSync, statSync } from 'node:fs';
import {
  createServer,
  request,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolder } from './packages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const PLUGIN_ID = 'llmbench-observability-app';
const TYPES: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
/** Grafana's typeface, which its packages name but do not hold. */
const FONTS: Record<string, string> = {
  'Inter-Regular.woff2': 'inter-latin-400-normal.woff2',
  'Inter-Italic.woff2': 'inter-latin-400-italic.woff2',
  'Inter-Medium.woff2': 'inter-latin-500-normal.woff2',
};
const GRAFANA_RULES_PATH = '/api/prometheus/grafana/api/v1/rules';
const GRAFANA_SEARCH_PATH = '/api/search';
const RUNS_SETTINGS_PATH = '/api/datasources/uid/llmbench-runs';
const NO_RULES = { status: 'success', data: { groups: [] } };
const KEPT: OutgoingHttpHeaders = { 'cache-control': 'max-age=31536000, immutable' };
/** A port that nothing listens on. */
const UNUSED_ADDRESS = 'http://127.0.0.1:9';
/** The page of a bundle, whose version is in the addresses: a browser may keep it. */
const pageOf = (version: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>llmbench plugin host</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/host/host.css?${version}">
  </head>
  <body style="margin: 0"><div id="root"></div><script src="/host/host.js?${version}"></script></body>
</html>`;

/** Paths of the Grafana server that the page needs, and the folders that serve them. */
const folders = ({ pluginFolder = join(root, 'dist') }: HostOptions): Array<[prefix: string, folder: string]> => [
  ['/host/', join(root, 'host/out')],
  [`/public/plugins/${PLUGIN_ID}/`, pluginFolder],
  ['/public/build/img/', join(packageFolder('@grafana/ui'), 'dist/public/img')],
];

export interface HostOptions {
  prometheusUrl: string;
  /** The exporter (`llmbench serve`); without it its data source answers 502, as Grafana does. */
  exporterUrl?: string | undefined;
  /** What the data source of the exporter has as its token; Grafana's proxy adds it to every request. */
  exporterToken?: string | undefined;
  /** The response of Grafana's own rules API; without it, Grafana has no rules. */
  grafanaRules?: object | undefined;
  /** The uids of the dashboards that Grafana has; without them, it has none. */
  grafanaDashboards?: readonly string[];
  /** The installed plugin (default: `dist`). */
  pluginFolder?: string;
  port?: number;
}

/**
 * Serves what a Grafana server would: the built plugin, the icons, the data sources' proxies, and the page for every
 * other path. Listens on 127.0.0.1; port 0 takes a free one.
 */
export function startHost(options: HostOptions): Promise<{ url: string; server: Server }> {
  const { exporterToken } = options;
  const proxies: Array<[prefix: string, upstream: string, token?: string | undefined]> = [
    ['/api/datasources/proxy/uid/prometheus/', options.prometheusUrl],
    // The resources of the Prometheus data source are paths of Prometheus.
    ['/api/datasources/uid/prometheus/resources/', options.prometheusUrl],
    ['/api/datasources/proxy/uid/llmbench-runs/', options.exporterUrl ?? UNUSED_ADDRESS, exporterToken],
  ];
  const served = folders(options);
  const page = pageOf(String(statSync(join(root, 'host/out/host.js')).mtimeMs));
  const server = createServer((message, response) => {
    const path = new URL(message.url ?? '/', 'http://host').pathname;
    const font = FONTS[/^\/public\/fonts\/inter\/(.+)$/.exec(path)?.[1] ?? ''];
    const folder = served.find(([prefix]) => path.startsWith(prefix));
    const upstream = proxies.find(([prefix]) => path.startsWith(prefix));
    if (upstream) {
      proxy(new URL((message.url ?? '').slice(upstream[0].length - 1), upstream[1]), upstream[2], message, response);
    } else if (path === GRAFANA_RULES_PATH) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(options.grafanaRules ?? NO_RULES));
    } else if (path === RUNS_SETTINGS_PATH) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ url: options.exporterUrl ?? UNUSED_ADDRESS }));
    } else if (path === GRAFANA_SEARCH_PATH) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify((options.grafanaDashboards ?? []).map((uid) => ({ uid, type: 'dash-db' }))));
    } else if (font) {
      sendFile(join(root, 'node_modules/@fontsource/inter/files', font), response, KEPT);
    } else if (folder) {
      sendFile(fileIn(folder[1], path.slice(folder[0].length)), response, path.startsWith('/host/') ? KEPT : {});
    } else if (path.startsWith('/public/') || path.startsWith('/api/')) {
      response.writeHead(404).end();
    } else {
      response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    }
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', () => {
      const address = server.address();
      resolve({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, server });
    });
  });
}

/** The file that a path names within a folder; null when it leads out of it or is not readable as a path. */
function fileIn(folder: string, path: string): string | null {
  try {
    const file = resolve(folder, decodeURIComponent(path));
    return file.startsWith(folder + sep) ? file : null;
  } catch (error) {
    if (error instanceof URIError) {
      return null;
    }
    throw error;
  }
}

function sendFile(file: string | null, response: ServerResponse, headers: OutgoingHttpHeaders = {}): void {
  if (file === null || !existsSync(file) || !statSync(file).isFile()) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream', ...headers });
  createReadStream(file).pipe(response);
}

function proxy(target: URL, token: string | undefined, message: IncomingMessage, response: ServerResponse): void {
  const { accept, 'content-type': contentType } = message.headers;
  const headers = {
    ...(accept && { accept }),
    ...(contentType && { 'content-type': contentType }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const upstream = request(target, { method: message.method ?? 'GET', headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  upstream.on('error', (error) =>
    response.writeHead(502).end(JSON.stringify({ status: 'error', error: error.message }))
  );
  message.pipe(upstream);
}

/**
 * Parameters of the host page.
 *
 * `/` is the panel, `/a/llmbench-observability-app/…` the app.
 *
 * - `query`, `format`: PromQL and time_series | heatmap | table, one or several; the last format holds for the rest
 * - `from`, `to`: milliseconds since 1970, or `range`: seconds that end now; `step`: seconds (default: range / width)
 * - `editor`: true for an editor of the panel, in which a query is entered and a suggestion chosen
 * - `annotation`: PromQL of run regions (default: llmbench_run_phase == 1; empty: none)
 * - `theme`: dark | light; `width`, `height`: pixels of the panel
 * - `role`: of the user in Grafana, Viewer | Editor | Admin (default: Admin)
 * - `without`: uid of a data source that Grafana does not have (prometheus, llmbench-runs)
 * - `options`, `defaults`: JSON of the panel's options and of its standard field options
 */
export type PageParameters = Record<string, string | number | readonly string[] | undefined>;

export function hostUrl(origin: string, parameters: PageParameters): string {
  const url = new URL('/', origin);
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) {
        url.searchParams.append(name, String(one));
      }
    }
  }
  return url.href;
}
