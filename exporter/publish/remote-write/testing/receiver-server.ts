import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeRequest, type DecodedRequest } from './decode-request.ts';

export interface ReceivedRequest extends DecodedRequest {
  readonly at_ms: number;
  readonly protocol: '1' | '2';
  readonly headers: IncomingHttpHeaders;
  readonly samples: number;
  readonly histograms: number;
}

/** The response to a request; by default that of a receiver that accepts everything. */
export type Handler = (request: ReceivedRequest, response: ServerResponse, number: number) => void;

export interface ReceiverServer {
  readonly url: string;
  /** All requests, including rejected ones. */
  readonly requests: readonly ReceivedRequest[];
  close(): Promise<void>;
}

/** Accepts everything, and reports the written counts for protocol 2.0. */
export const takeAll: Handler = ({ protocol, samples, histograms }, response) => {
  const written = {
    'x-prometheus-remote-write-samples-written': String(samples),
    'x-prometheus-remote-write-histograms-written': String(histograms),
  };
  response.writeHead(204, protocol === '2' ? written : {}).end();
};

/** A receiver of remote write on a real socket. */
export async function receiverServer(answer: Handler = takeAll, port = 0): Promise<ReceiverServer> {
  const requests: ReceivedRequest[] = [];
  const server: Server = createServer((incoming, response) => {
    // Tests that look for metrics pages on this machine ask every port.
    if (incoming.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const protocol = incoming.headers['content-type']?.includes('v2.Request') === true ? '2' : '1';
      const decoded = decodeRequest(Buffer.concat(chunks), protocol);
      const count = (kind: 'samples' | 'histograms'): number =>
        decoded.series.reduce((sum, series) => sum + series[kind].length, 0);
      const counts = { samples: count('samples'), histograms: count('histograms') };
      const request = { ...decoded, ...counts, at_ms: performance.now(), protocol, headers: incoming.headers } as const;
      requests.push(request);
      answer(request, response, requests.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}/api/v1/write`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
