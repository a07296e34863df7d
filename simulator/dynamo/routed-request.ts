import type { Random } from '../../core/stats/seeded-random.ts';

export const CHAT_ROUTE = '/v1/chat/completions';

/** What Dynamo's label `endpoint` says of each API. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  [CHAT_ROUTE]: 'chat_completions',
  '/v1/completions': 'completions',
  '/v1/responses': 'responses',
  '/v1/embeddings': 'embeddings',
};

/** Whether requests by this path are counted. */
export const isEndpoint = (route: string): boolean => route in ENDPOINTS;

/** @throws Error for a path that is no API of the frontend */
export function endpointOf(route: string): string {
  const endpoint = ENDPOINTS[route];
  if (endpoint === undefined) throw new Error(`${route} is no API of Dynamo's frontend`);
  return endpoint;
}

/** The id of a process in Dynamo's discovery: 64 bits, new after every start. */
export interface DynamoInstance {
  /** As on the process's own page. */
  readonly hex: string;
  /** As on the pages of others. */
  readonly decimal: string;
}

const HALF = 2 ** 32;

export function drawInstance(random: Random): DynamoInstance {
  const id = BigInt(Math.floor(random() * HALF)) * BigInt(HALF) + BigInt(Math.floor(random() * HALF));
  return { hex: id.toString(16), decimal: id.toString() };
}

/** What the frontend does with a request before a worker has it, in seconds. */
export interface DispatchTimes {
  readonly template: number;
  readonly tokenize: number;
  readonly blockHashing: number;
  readonly sequenceHashing: number;
  readonly findMatches: number;
  readonly schedule: number;
  readonly queue: number;
  readonly send: number;
}

/** A request that the frontend has given to a worker. */
export interface RoutedRequest {
  readonly id: string;
  readonly streaming: boolean;
  /** Path of the API that it came by. */
  readonly route: string;
  readonly promptTokens: number;
  /** When the frontend had it. */
  readonly arrival_ns: number;
  /** When the worker had it. */
  readonly dispatched_ns: number;
  readonly times: DispatchTimes;
  readonly worker: DynamoInstance;
  /** Share of its blocks that the router expects in the worker's cache. */
  readonly predictedHitRatio: number;
  /** Prompt tokens that the router expects in the worker's cache, and in that of the worker that has the most. */
  readonly cachedTokens: number;
  readonly mostCachedTokens: number;
  /** Tokens that the router expects the worker to compute. */
  readonly prefillTokens: number;
}

/** Draws the times of one request: they grow with the prompt, and vary by half. */
export function drawDispatchTimes(promptTokens: number, random: Random): DispatchTimes {
  const about = (seconds: number): number => seconds * (0.75 + random() / 2);
  return {
    template: about(40e-6 + promptTokens * 20e-9),
    tokenize: about(150e-6 + promptTokens * 1.2e-6),
    blockHashing: about(2e-6 + promptTokens * 20e-9),
    sequenceHashing: about(2e-6 + promptTokens * 20e-9),
    findMatches: about(15e-6),
    schedule: about(150e-6),
    queue: about(60e-6),
    send: about(250e-6),
  };
}

/** What choosing a worker takes. */
export function routeSeconds({ blockHashing, sequenceHashing, findMatches, schedule }: DispatchTimes): number {
  return blockHashing + sequenceHashing + findMatches + schedule;
}

/** From the arrival at the frontend to that at the worker. */
export function dispatchSeconds(times: DispatchTimes): number {
  const { template, tokenize, queue, send } = times;
  return template + tokenize + routeSeconds(times) + queue + send;
}

/** What a request is on the wire between frontend and worker: token ids and the options around them. */
export function requestBytes(promptTokens: number): number {
  return 600 + Math.round(3.5 * promptTokens);
}
