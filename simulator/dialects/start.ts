import type { IncomingMessage } from 'node:http';

import type { ServerProfile, StartOptions } from '../start.ts';
import { RestartingServer } from '../faults/restarting-server.ts';
import {
  ApiError,
  checkModel,
  isObject,
  parseObject,
  readCount,
  readMessages,
  sendJson,
  type JsonObject,
} from '../http/json-body.ts';
import { modelList, startResponse } from '../http/openai-response.ts';
import { readPrompt } from '../http/prompt.ts';
import type { RouteHandler } from '../http/route-server.ts';
import { SimulatorServer } from '../http/server.ts';
import type { RouteParts } from '../http/server.ts';
import { dialectResponses } from './dialect.ts';
import type { Dialect, Members } from './dialect.ts';

/** A refusal in the words of a dialect. */
class Refused extends ApiError {
  readonly json: string;

  constructor(status: number, body: Members) {
    super(status, 'invalid_request_error', 'refused');
    this.json = JSON.stringify(body);
  }
}

const NO_KEY = { error: { message: 'No API key was given.', type: 'invalid_request_error', code: 'invalid_api_key' } };
const NOT_FOUND = '{"error":{"message":"Resource not found","type":"invalid_request_error","code":"404"}}';

/** Starts a server that gives chat completions as a dialect does, and the list of its models: it has no metrics. */
export async function serveDialect(
  dialect: Dialect,
  { host, port: wanted, ...options }: Omit<StartOptions, 'workers'>,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const make = (): SimulatorServer =>
    new SimulatorServer({
      ...options,
      profile: { ...NO_PROFILE, responses: { ...dialectResponses(dialect), error: worded } },
      makeRoutes: (parts) => routes(dialect, parts),
    });
  const server = new RestartingServer(make, options.faults.restart);
  const port = await server.listen(wanted, host);
  return { port, close: () => server.close() };
}

const NO_PROFILE: Omit<ServerProfile, 'responses'> = {
  ownedBy: 'simulator',
  metricsContentType: 'text/plain',
  observe: () => undefined,
  responded: () => undefined,
  metricsPage: () => '',
};

const worded = (error: ApiError): string => (error instanceof Refused ? error.json : error.body());

function routes(dialect: Dialect, { api, responding }: RouteParts): Readonly<Record<string, RouteHandler>> {
  const { model, parameters, generations } = api;
  const responses = dialectResponses(dialect);
  const isAlwaysCounted = dialect.usage.always === true;
  const [path = '', query] = dialect.path.replace('$model', model).split('?');
  const chat = responding(path, (body, response, ended) => {
    const request = parseObject(body);
    for (const [name, { status, body: refusal }] of Object.entries(dialect.refuses ?? {}))
      if (request[name] !== undefined) throw new Refused(status, refusal);
    // The path of some names the model.
    if (!dialect.path.includes('$model')) checkModel(request, model);
    const prompt = readPrompt(readMessages(request['messages'], 'messages'), parameters.blockSize);
    const [maxTokens = null] = dialect.tokenFields.flatMap((name) => readCount(request, name) ?? []);
    const stream = request['stream'] === true;
    const asked = { route: path, idPrefix: 'chatcmpl-', model, prompt, maxTokens, stream };
    const includeUsage = isAlwaysCounted || asksForUsage(request);
    startResponse(generations, { ...asked, includeUsage }, responses, { response, ended });
  });
  const notFound: RouteHandler = (_request, response) => sendJson(response, 404, NOT_FOUND);
  const models = modelList(model, parameters.maxModelLen, NO_PROFILE.ownedBy);
  const base = path.endsWith('/chat/completions') ? path.slice(0, -'/chat/completions'.length) : '/v1';
  return {
    'POST /v1/chat/completions': notFound,
    'GET /metrics': notFound,
    'GET /health': notFound,
    'GET /v1/models': notFound,
    [`GET ${base}/models`]: (_request, response) => sendJson(response, 200, models),
    [`POST ${path}`]: (request, response, given) => {
      if (!hasKey(dialect, request)) return sendJson(response, 401, JSON.stringify(NO_KEY));
      const isComplete = [...new URLSearchParams(query).keys()].every((name) => given.has(name));
      return isComplete ? chat(request, response, given) : notFound(request, response, given);
    },
  };
}

function asksForUsage({ stream_options: options }: JsonObject): boolean {
  return isObject(options) && options['include_usage'] === true;
}

function hasKey({ key }: Dialect, { headers }: IncomingMessage): boolean {
  if (key === undefined) return true;
  const given = headers[key.toLowerCase()];
  return typeof given === 'string' && (key === 'api-key' ? given !== '' : /^Bearer \S/.test(given));
}
