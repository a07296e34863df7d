import type { IncomingMessage, ServerResponse } from 'node:http';

import { Engine } from '../engine/engine.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { Face } from '../face.ts';
import { VLLM_ANSWERS } from './answer-texts.ts';
import { ApiError } from './api-error.ts';
import { Completions } from './completions.ts';
import { EngineDriver } from './engine-driver.ts';
import type { RequestBackend } from './engine-driver.ts';
import { Generations } from './generations.ts';
import { sendJson } from './json-response.ts';
import { modelList } from './model-list.ts';
import { sendPage } from './metrics-server.ts';
import { MonotonicClock } from './monotonic-clock.ts';
import { readBody } from './request-body.ts';
import { RouteServer } from './route-server.ts';
import type { RouteHandler } from './route-server.ts';
import { TruthLog } from './truth-log.ts';
import type { TruthLimits } from './truth-log.ts';
import { sendTruth } from './truth-response.ts';

const MAX_BODY_BYTES = 16 * 1024 * 1024;
const SECONDS_PER_NANOSECOND = 1e-9;

export interface SimulatorServerOptions {
  readonly face: Face;
  readonly model: string;
  readonly parameters: EngineParameters;
  readonly truthLimits?: TruthLimits;
  /** What computes the answers; its times are those of `clock`. Default: one engine, shown to the face. */
  readonly makeBackend?: (clock: MonotonicClock) => RequestBackend;
}

/** An inference server over HTTP: the OpenAI routes, `/health`, `/metrics` of a face, and `/truth`. */
export class SimulatorServer {
  readonly #http: RouteServer;
  readonly #face: Face;
  readonly #backend: RequestBackend;
  readonly #clock = new MonotonicClock();

  /** @throws RangeError when an engine parameter is out of range */
  constructor({ face, model, parameters, truthLimits, makeBackend }: SimulatorServerOptions) {
    const clock = this.#clock;
    const truth = new TruthLog(truthLimits);
    const backend =
      makeBackend?.(clock) ?? new EngineDriver(new Engine(parameters), clock, (events) => face.observe(events));
    const generations = new Generations({ parameters, backend, clock, truth });
    const completions = new Completions({ model, parameters, generations, answers: face.answers ?? VLLM_ANSWERS });
    const models = modelList(model, parameters.maxModelLen, face.ownedBy);
    this.#face = face;
    this.#backend = backend;
    const routes = new Map<string, RouteHandler>([
      ['POST /v1/chat/completions', (request, response) => this.#complete(completions, request, response)],
      ['GET /v1/models', this.#counted('/v1/models', (response) => sendJson(response, 200, models))],
      ['GET /health', (_request, response) => void response.writeHead(200, { 'content-length': 0 }).end()],
      ['GET /metrics', (_request, response) => this.#metrics(response)],
      ['GET /truth', (_request, response, query) => sendTruth(response, truth.json(clock, query.get('id')))],
    ]);
    this.#http = new RouteServer({
      routes,
      notFound: this.#counted('none', (response) => sendJson(response, 404, '{"detail":"Not Found"}')),
      failed: (error, response) => {
        const message = error instanceof Error ? error.message : String(error);
        sendJson(response, 500, new ApiError(500, 'InternalServerError', message).body());
      },
    });
  }

  /**
   * Starts to serve.
   *
   * @param port 0: a free one
   * @returns the port
   */
  listen(port: number, host: string): Promise<number> {
    return this.#http.listen(port, host);
  }

  /** Ends all connections and the engine's timer. */
  async close(): Promise<void> {
    await this.#http.close();
    this.#backend.close();
  }

  async #complete(completions: Completions, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const count = this.#counter('/v1/chat/completions', request, response);
    try {
      completions.handle(await readBody(request, MAX_BODY_BYTES), response, count);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      sendJson(response, error.status, error.body());
      count();
    }
  }

  #metrics(response: ServerResponse): void {
    sendPage(response, this.#face.metricsContentType, this.#face.metricsPage(this.#backend.state()));
  }

  /** A handler whose answers are in the face's HTTP figures. */
  #counted(route: string, send: (response: ServerResponse) => void): RouteHandler {
    return (request, response) => {
      const count = this.#counter(route, request, response);
      send(response);
      count();
    };
  }

  #counter(route: string, request: IncomingMessage, response: ServerResponse): () => void {
    const started_ns = this.#clock.now_ns();
    return () =>
      this.#face.answered({
        handler: route,
        method: request.method ?? '',
        status: response.statusCode,
        seconds: (this.#clock.now_ns() - started_ns) * SECONDS_PER_NANOSECOND,
        requestBytes: Number(request.headers['content-length'] ?? 0),
        responseBytes: Number(response.getHeader('content-length') ?? 0),
      });
  }
}
