import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LimitedServer {
  readonly url: string;
  close(): Promise<void>;
}

const ANSWER_MS = 20;
const REJECTION_MS = 5;

/**
 * Streams chat completions of two tokens, and answers 429 to a request that comes while `places` others are in progress: its
 * capacity does not depend on how fast the machine is.
 */
export async function startLimitedServer(places: number): Promise<LimitedServer> {
  let taken = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    if (taken >= places) {
      setTimeout(() => response.writeHead(429).end('{"error":{"message":"busy"}}'), REJECTION_MS);
      return;
    }
    taken++;
    setTimeout(() => {
      // Before the client can see the end.
      taken--;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end([...['a', 'b'].map(contentOf), END, USAGE, 'data: [DONE]\n\n'].join(''));
    }, ANSWER_MS);
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

const contentOf = (content: string): string => event([{ index: 0, delta: { content }, finish_reason: null }]);
const END = event([{ index: 0, delta: {}, finish_reason: 'length' }]);
const USAGE = event([], { usage: { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 } });
