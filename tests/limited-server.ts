import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface LimitedServer {
  readonly url: string;
  close(): Promise<void>;
}

const RESPONSE_MS = 20;
const REJECTION_MS = 5;

/**
 * Streams chat completions, and answers 429 to a request that comes while `places` others are in progress: its capacity does
 * not depend on how fast the machine is. The one token of a response has no inter-token latency that a busy client exceeds.
 */
export const startLimitedServer = (places: number): Promise<LimitedServer> => startServer(places, 'reject');

/** The same, but further requests wait for a place: its throughput grows up to `places` requests in flight. */
export const startQueueingServer = (places: number): Promise<LimitedServer> => startServer(places, 'wait');

async function startServer(places: number, further: 'reject' | 'wait'): Promise<LimitedServer> {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const answer = (response: ServerResponse): void => {
    taken++;
    setTimeout(() => {
      // Before the client can see the end.
      taken--;
      waiting.shift()?.();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end([CONTENT, END, USAGE, 'data: [DONE]\n\n'].join(''));
    }, RESPONSE_MS);
  };
  const server = createServer((request, response) => {
    request.resume();
    if (request.method !== 'POST') response.writeHead(404).end();
    else if (taken < places) answer(response);
    else if (further === 'wait') waiting.push(() => answer(response));
    else setTimeout(() => response.writeHead(429).end('{"error":{"message":"busy"}}'), REJECTION_MS);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const event = (choices: readonly unknown[], more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'sim-model', choices, ...more })}\n\n`;

const CONTENT = event([{ index: 0, delta: { content: 'a' }, finish_reason: null }]);
const END = event([{ index: 0, delta: {}, finish_reason: 'length' }]);
const USAGE = event([], { usage: { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 } });
