import type { IncomingMessage, ServerResponse } from 'node:http';
import { seededRandom } from '../../../core/stats/seeded-random.ts';
import type { FaultPlan } from '../../faults/plan.ts';
import { ApiError, sendJson, MAX_BODY_BYTES, readBody } from '../../http/json-body.ts';
import { metricsServer, listenAt, type PagePort } from '../../http/site.ts';
import { RouteServer } from '../../http/route-server.ts';
import type { RouteHandler } from '../../http/route-server.ts';
import { CacheAwarePolicy, Upstream, Worker } from './worker.ts';
import { Forwarder, readGatewayRequest, refusal } from './forwarder.ts';
import { GatewayMetrics, ROUTER, WORKER_TYPE, type Routed } from './gateway-metrics.ts';
import { parseText, type Labels, type MetricFamily, type MetricType } from '../../../core/exposition/index.ts';
import { escapeLabelValue, plainNumber } from '../../metrics/write-page.ts';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

interface GatewayOptions {
  readonly workerUrls: readonly string[];
  readonly model: string;
  readonly blockSize: number;
  readonly seed: number;
  readonly faults: FaultPlan;
}

/** smg 1.13.0 with the cache-aware policy before workers of one model: the API on one port, its metrics on another. */
export class GatewayServer {
  readonly #options: GatewayOptions;
  readonly #workers: readonly Worker[];
  readonly #upstream = new Upstream();
  readonly #metrics: GatewayMetrics;
  readonly #watch: WorkerWatch;
  readonly #forwarder: Forwarder;
  readonly #http: RouteServer;
  readonly #metricsServer = metricsServer(CONTENT_TYPE, () => this.#metrics.page(this.#now_s()));
  readonly #now_s = (): number => performance.now() / 1000;

  constructor(options: GatewayOptions) {
    const { workerUrls, model, seed, faults } = options;
    this.#options = options;
    this.#workers = workerUrls.map((url) => new Worker(url));
    this.#metrics = new GatewayMetrics(this.#workers, model);
    this.#watch = new WorkerWatch(this.#workers, this.#upstream, this.#metrics);
    this.#forwarder = new Forwarder({
      workers: this.#workers,
      policy: new CacheAwarePolicy(seededRandom(seed), faults.hotWorker),
      upstream: this.#upstream,
      metrics: this.#metrics,
      now_s: this.#now_s,
    });
    this.#http = this.#makeHttp();
  }

  /** @returns the port of the API */
  async listen(port: number, metrics: PagePort, host: string): Promise<number> {
    const own = await this.#http.listen(port, host);
    await listenAt(this.#metricsServer, metrics, host);
    return own;
  }

  async close(): Promise<void> {
    this.#watch.close();
    this.#metrics.close();
    await Promise.all([this.#http.close(), this.#metricsServer.close()]);
    this.#upstream.close();
  }

  #makeHttp(): RouteServer {
    const { model } = this.#options;
    const models = JSON.stringify({
      object: 'list',
      data: [{ id: model, object: 'model', created: 0, owned_by: 'self_hosted' }],
    });
    const urls = this.#workers.map(({ url }) => url);
    return new RouteServer({
      routes: new Map<string, RouteHandler>([
        ['POST /v1/chat/completions', this.#generating('/v1/chat/completions', 'chat')],
        ['POST /v1/completions', this.#generating('/v1/completions', 'completions')],
        ['POST /v1/embeddings', this.#generating('/v1/embeddings', 'embeddings')],
        ['POST /generate', this.#generating('/generate', 'generate')],
        ['GET /v1/models', this.#counted('/v1/models', (response) => sendJson(response, 200, models))],
        ['GET /health', this.#counted('/health', (response) => void response.writeHead(200).end('OK'))],
        ['GET /get_server_info', (_request, response) => this.#fromWorker('/get_server_info', response)],
        ['GET /engine_metrics', (_request, response) => this.#enginePage(response)],
        ['GET /workers', (_request, response) => sendJson(response, 200, this.#workerList())],
        [
          'GET /truth',
          async (_request, response, query) =>
            sendJson(response, 200, await mergedTruth(urls, query.get('id'), this.#upstream)),
        ],
      ]),
      notFound: this.#counted('other', (response) => {
        sendJson(response, 404, refusal(404, 'unknown_url', 'Invalid URL').body());
      }),
      failed: (error, response) => {
        const message = error instanceof Error ? error.message : String(error);
        sendJson(response, 500, refusal(500, 'internal_error', message).body());
      },
    });
  }

  /** The gateway passes this on to one of its workers. */
  async #fromWorker(path: string, response: ServerResponse): Promise<void> {
    const [worker] = this.#workers;
    if (worker === undefined) throw refusal(503, 'no_workers', 'No available workers');
    sendJson(response, 200, await this.#upstream.text(`${worker.url}${path}`));
  }

  /** The pages of the workers that respond, merged. */
  async #enginePage(response: ServerResponse): Promise<void> {
    const pages = await Promise.all(
      this.#workers.map(({ url }) =>
        this.#upstream.text(`${url}/metrics`).then(
          (text) => [{ url, text }],
          () => [],
        ),
      ),
    );
    const isAnswered = pages.flat().length > 0;
    response.writeHead(isAnswered ? 200 : 500, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(isAnswered ? enginePage(pages.flat()) : 'All backend requests failed');
  }

  #workerList(): string {
    const workers = this.#workers.map(({ url }) => ({ url, worker_type: 'regular', connection_mode: 'HTTP' }));
    return JSON.stringify({ workers, total: workers.length });
  }

  #generating(path: string, endpoint: string): RouteHandler {
    return async (request, response) => {
      const { responding, responded } = this.#count(path, request, response);
      this.#metrics.admitted();
      let errorCode = '';
      response.once('close', () => {
        this.#metrics.released();
        if (response.writableFinished) responded(response.statusCode, errorCode);
        else responded(499, 'client_closed_request');
      });
      try {
        const body = await readBody(request, MAX_BODY_BYTES);
        const { routed, prompt } = this.#route(body, endpoint);
        await this.#forwarder.forward({ ...routed, path, body, prompt, response, responding });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (response.destroyed) return;
        errorCode = error.code === 413 ? 'request_too_large' : `${error.code}`;
        responding();
        sendJson(response, error.status, error.body());
      }
    };
  }

  #route(body: string, endpoint: string) {
    const { model: served, blockSize } = this.#options;
    const { model, streaming, prompt } = readGatewayRequest(body, blockSize);
    const isServed = model === null || model === served;
    const routed: Routed = { endpoint, streaming, model: isServed ? (model ?? 'unknown') : 'other' };
    const { model: label } = routed;
    this.#metrics.count('router_requests_total', { ...ROUTER, model: label, endpoint, streaming: `${streaming}` });
    if (!isServed) {
      this.#metrics.failed(routed, 'no_workers');
      this.#metrics.upstream(404, 'model_not_found');
      throw refusal(404, 'model_not_found', `No worker available for model '${model}'`);
    }
    return { routed, prompt };
  }

  #counted(path: string, send: (response: ServerResponse) => void): RouteHandler {
    return (request, response) => {
      const { responding, responded } = this.#count(path, request, response);
      responding();
      response.once('close', () => responded(response.statusCode, path === 'other' ? 'unknown_url' : ''));
      send(response);
    };
  }

  #count(path: string, request: IncomingMessage, response: ServerResponse) {
    const started_s = this.#now_s();
    const labels = { method: request.method ?? '', path };
    this.#metrics.arrived(response, labels, started_s);
    return {
      // The head of the response goes out.
      responding: () => this.#metrics.observe('http_request_duration_seconds', this.#now_s() - started_s, labels),
      responded: (status: number, code: string) => this.#metrics.responded(response, path, status, code),
    };
  }
}

interface Truth {
  readonly origin: number;
  readonly dropped_requests: number;
  readonly dropped_tokens: number;
  readonly requests: readonly unknown[];
}

/** The `/truth` of all workers as one: their times are all of CLOCK_MONOTONIC. */
async function mergedTruth(urls: readonly string[], id: string | null, upstream: Upstream): Promise<string> {
  const query = id === null ? '' : `?id=${encodeURIComponent(id)}`;
  const all = await Promise.all(
    urls.map(async (url) => JSON.parse(await upstream.text(`${url}/truth${query}`)) as Truth),
  );
  const sum = (of: (truth: Truth) => number): number => all.reduce((total, truth) => total + of(truth), 0);
  return JSON.stringify({
    ...all[0],
    origin: Math.min(...all.map(({ origin }) => origin)),
    dropped_requests: sum((truth) => truth.dropped_requests),
    dropped_tokens: sum((truth) => truth.dropped_tokens),
    requests: all.flatMap(({ requests }) => requests),
  });
}

const HEALTH_INTERVAL_MILLISECONDS = 2000;
/** Health checks from one look at a worker's load to the next. */
const CHECKS_PER_LOAD_POLL = 5;

/** Asks the workers for their health, and now and then for their load. */
class WorkerWatch {
  readonly #timer: NodeJS.Timeout;
  #checks = 0;

  constructor(workers: readonly Worker[], upstream: Upstream, metrics: GatewayMetrics) {
    const look = (): void => {
      const pollsLoad = this.#checks++ % CHECKS_PER_LOAD_POLL === 0;
      for (const worker of workers) {
        void upstream.answersOk(`${worker.url}/health`).then((isGood) => {
          worker.checked(isGood);
          metrics.count('worker_health_checks_total', { ...WORKER_TYPE, result: isGood ? 'success' : 'failure' });
        });
        if (!pollsLoad) continue;
        const polled = { worker: worker.url, mode: 'poll' };
        void upstream.answersOk(`${worker.url}/v1/loads`).then(() => metrics.count('engine_load_polls_total', polled));
      }
    };
    look();
    this.#timer = setInterval(look, HEALTH_INTERVAL_MILLISECONDS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

type Sample = MetricFamily['samples'][number];

/** The page of a worker, and the address at which the gateway reads it. */
interface WorkerPage {
  readonly url: string;
  readonly text: string;
}

/**
 * The pages of all workers as one, as the gateway answers `/engine_metrics`: the parser that it uses knows no colons, so
 * that each is an underscore, also in HELP and in the values of labels; each series gets the address of its worker; two
 * empty lines follow each family.
 */
function enginePage(pages: readonly WorkerPage[]): string {
  const families = new Map<string, { readonly head: string; text: string }>();
  for (const { url, text } of pages) {
    for (const { name, type, help, samples } of parseText(Buffer.from(text.replaceAll(':', '_'))).families) {
      const head = `${help === null ? '' : `# HELP ${name} ${help}\n`}# TYPE ${name} ${type}\n`;
      const family = families.get(name) ?? { head, text: '' };
      for (const sample of samples) family.text += line(sample, type, url);
      families.set(name, family);
    }
  }
  return Array.from(families.values(), ({ head, text }) => `${head}${text}\n\n`).join('');
}

function line({ name, labels: { le, ...labels }, value }: Sample, type: MetricType, worker: string): string {
  // Rust writes an infinite bound without its sign.
  const written = type === 'histogram' && le !== undefined ? (le === '+Inf' ? 'inf' : plainNumber(Number(le))) : le;
  const bound: Labels = written === undefined ? {} : { le: written };
  const pairs = Object.entries<string>({ ...labels, worker_addr: worker, ...bound });
  return `${name}{${pairs.map(([label, text]) => `${label}="${escapeLabelValue(text)}"`).join(',')}} ${plainNumber(value)}\n`;
}
