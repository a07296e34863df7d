import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

export interface ReceivedRequest {
  readonly head: string;
  readonly body: string;
  /** Which connection it came on, from 0. */
  readonly connection: number;
  /** Position among all requests, from 0. */
  readonly position: number;
}

/** Writes a response by hand. */
export type Script = (socket: Socket, request: ReceivedRequest) => unknown;

export interface ScriptedServer {
  readonly origin: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  readonly connections: () => number;
  /** Connections open now. */
  readonly open: () => number;
  close(): Promise<void>;
}

/**
 * Lets the client, which lives in the same event loop, read what was written, and waits this long from then on. A plain wait
 * may be over before the client has had its turn, on a busy machine.
 */
export async function readThenWait(wait_ms: number): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await sleep(1);
    await nextTurn();
  }
  await sleep(wait_ms);
}

/** A server on a raw socket: it reads requests of HTTP/1.1 and lets the script write whatever it likes. */
export async function scriptedServer(script: Script): Promise<ScriptedServer> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    const connection = connections++;
    sockets.add(socket);
    let received = '';
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => sockets.delete(socket));
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      for (;;) {
        const headEnd = received.indexOf('\r\n\r\n');
        if (headEnd < 0) return;
        const head = received.slice(0, headEnd);
        const end = headEnd + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        if (received.length < end) return;
        const request = { head, body: received.slice(headEnd + 4, end), connection, position: requests.length };
        received = received.slice(end);
        requests.push(request);
        script(socket, request);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    requests,
    connections: () => connections,
    open: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

export const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

/** One chunk of HTTP's chunked coding; the text is latin1. */
export function httpChunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

export const LAST_CHUNK = '0\r\n\r\n';

export function sse(event: unknown): string {
  return `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
}

export function delta(content: string, finish_reason: string | null = null): unknown {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1763625600,
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason }],
  };
}

export function reasoning(text: string): unknown {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1763625600,
    model: 'm',
    choices: [{ index: 0, delta: { reasoning_content: text }, finish_reason: null }],
  };
}

export function usage(prompt_tokens: number, completion_tokens: number): unknown {
  return { id: 'chatcmpl-1', choices: [], usage: { prompt_tokens, completion_tokens } };
}

/** A whole good stream of two content chunks. */
export const GOOD_STREAM = [
  sse(delta('Hello')),
  sse(delta(' world')),
  sse(delta('', 'stop')),
  sse(usage(7, 2)),
  sse('[DONE]'),
];

export function streamOf(events: readonly string[]): string {
  return STREAM_HEAD + events.map(httpChunk).join('') + LAST_CHUNK;
}

/** A response with a length. */
export function response(status: string, contentType: string, body: string, headers = ''): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: ${contentType}\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
}
