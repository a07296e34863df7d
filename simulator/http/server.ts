import type { IncomingMessage, ServerResponse } from 'node:http';

import { Engine } from '../engine/engine.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { ServerProfile } from '../start.ts';
import { NO_FAULTS, ServerFaults, type FaultPlan } from '../faults/plan.ts';
import { ApiError, sendJson, sendTruth, MAX_BODY_BYTES, readBody } from './json-body.ts';
import { makeChatCompletions, type ApiOptions } from './completions.ts';
import { EngineDriver, MonotonicClock, type RequestBackend } from './engine-driver.ts';
import { Generations } from './generations.ts';
import { modelList } from './openai-response.ts';
import { sendPage } from './site.ts';
import { RouteServer } from './route-server.ts';
import type { RouteHandler, StartResponse } from './route-server.ts';
import { TruthLog } from './truth-log.ts';
import type { TruthLimits } from './truth-log.ts';

const SECONDS_PER_NANOSECOND = 1e-9;

export interface SimulatorServerOptions {
  readonly profile: ServerProfile;
  readonly model: string;
  readonly parameters: EngineParameters;
  readonly truthLimits?: TruthLimits;
  /** What computes the responses; its times are those of `clock`. Default: one engine, shown to the profile. */
  readonly makeBackend?: (clock: MonotonicClock) => RequestBackend;
  /** Default: one of its own. */
  readonly clock?: MonotonicClock;
  /** Those of the server itself; those of the engine are in `parameters`. Default: none. */
  readonly faults?: FaultPlan;
  /** Routes beyond the OpenAI ones, or in the place of some. */
  readonly makeRoutes?: (parts: RouteParts) => Readonly<Record<string, RouteHandler>>;
}

/** What routes of a system's own are made of. */
export interface RouteParts {
  /** What further OpenAI APIs are made of. */
  readonly api: ApiOptions;
  readonly generations: Generations;
  readonly backend: RequestBackend;
  /** A handler of a body that starts a response, refused as the server refuses, in the profile's HTTP figures. */
  readonly responding: (route: string, start: StartResponse) => RouteHandler;
  /** A handler whose answers are in the profile's HTTP figures. */
  readonly counted: (route: string, send: (response: ServerResponse) => void) => RouteHandler;
}

/** An inference server over HTTP: the OpenAI routes, `/health`, `/metrics` of a profile, and `/truth`. */
export class SimulatorServer {
  readonly #http: RouteServer;
  readonly #profile: ServerProfile;
  readonly #backend: RequestBackend;
  readonly #clock: MonotonicClock;
  readonly #faults: ServerFaults;

  /** @throws RangeError when an engine parameter is out of range */
  constructor(options: SimulatorServerOptions) {
    const { profile, model, parameters, truthLimits, makeBackend, makeRoutes, faults = NO_FAULTS } = options;
    const clock = options.clock ?? new MonotonicClock();
    this.#clock = clock;
    const truth = new TruthLog(truthLimits);
    const backend =
      makeBackend?.(clock) ?? new EngineDriver(new Engine(parameters), clock, (events) => profile.observe(events));
    this.#faults = new ServerFaults(faults, parameters.seed);
    const generations = new Generations({ parameters, backend, clock, truth, faults: this.#faults });
    const api: ApiOptions = { model, parameters, generations };
    const chat = makeChatCompletions(api, profile.responses);
    const counted: RouteParts['counted'] = (route, send) => this.#counted(route, send);
    const responding: RouteParts['responding'] = (route, start) => this.#responding(route, start);
    const models = modelList(model, parameters.maxModelLen, profile.ownedBy);
    this.#profile = profile;
    this.#backend = backend;
    const routes = new Map<string, RouteHandler>([
      ['POST /v1/chat/completions', responding('/v1/chat/completions', chat)],
      ['GET /v1/models', counted('/v1/models', (response) => sendJson(response, 200, models))],
      ['GET /health', (_request, response) => void response.writeHead(200, { 'content-length': 0 }).end()],
      ['GET /metrics', (_request, response) => this.#metrics(response)],
      ...Object.entries(makeRoutes?.({ api, generations, backend, responding, counted }) ?? {}),
      ['GET /truth', (_request, response, query) => sendTruth(response, truth.json(clock, query.get('id')))],
    ]);
    this.#http = new RouteServer({
      routes: new Map([...routes].map(([route, handler]) => [route, this.#unlessStarting(route, handler)])),
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

  #responding(route: string, start: StartResponse): RouteHandler {
    return async (request, response) => {
      const count = this.#counter(route, request, response);
      try {
        const body = await readBody(request, MAX_BODY_BYTES);
        this.#refuseIfDue(response);
        // Else the client went away while its request was read.
        if (!response.destroyed) start(body, response, count);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        sendJson(response, error.status, this.#profile.responses.error?.(error) ?? error.body());
        count();
      }
    };
  }

  #refuseIfDue(response: ServerResponse): void {
    const refusal = this.#faults.refusal(this.#seconds());
    if (refusal === null) return;
    response.setHeader('retry-after', `${refusal.retryAfterSeconds}`);
    throw refusal.status === 429
      ? new ApiError(429, 'RateLimitError', 'Too many requests.')
      : new ApiError(503, 'ServiceUnavailableError', 'The server is overloaded.');
  }

  /** While the server starts only `/truth`, which no real one has, is answered. */
  #unlessStarting(route: string, handler: RouteHandler): RouteHandler {
    return (request, response, query) => {
      if (route === 'GET /truth' || !this.#faults.isStarting(this.#seconds())) {
        return handler(request, response, query);
      }
      sendJson(response, 503, new ApiError(503, 'ServiceUnavailableError', 'The model is being loaded.').body());
    };
  }

  #seconds(): number {
    return this.#clock.now_ns() * SECONDS_PER_NANOSECOND;
  }

  #metrics(response: ServerResponse): void {
    sendPage(response, this.#profile.metricsContentType, this.#profile.metricsPage(this.#backend.state()));
  }

  /** A handler whose answers are in the profile's HTTP figures. */
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
      this.#profile.responded({
        handler: route,
        method: request.method ?? '',
        status: response.statusCode,
        seconds: (this.#clock.now_ns() - started_ns) * SECONDS_PER_NANOSECOND,
        requestBytes: Number(request.headers['content-length'] ?? 0),
        responseBytes: Number(response.getHeader('content-length') ?? 0),
      });
  }
}
