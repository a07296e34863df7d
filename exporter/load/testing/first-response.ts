import { expect } from '@jest/globals';
import type { Transport } from '../transports/transport.ts';
import { oneRequest } from './one-request.ts';
import { GOOD_STREAM, scriptedServer, streamOf } from './scripted-server.ts';
import type { Script, ScriptedServer } from './scripted-server.ts';
import type { OpenTransport } from './transport-kinds.ts';

/** A server whose first response is special, and a transport to it. */
export interface FirstResponse {
  readonly server: ScriptedServer;
  readonly transport: Transport;
  close(): Promise<void>;
}

/** The first request is answered by the script, every later one well. */
export async function firstResponse(open: OpenTransport, script: Script): Promise<FirstResponse> {
  const server = await scriptedServer((socket, request) => {
    if (request.position === 0) return script(socket, request);
    return socket.write(streamOf(GOOD_STREAM));
  });
  const transport = open({ origin: server.origin });
  return {
    server,
    transport,
    close: async () => {
      await transport.close();
      await server.close();
    },
  };
}

/** Whatever became of the first request, the next one gets its own answer, over a new connection. */
export async function expectNextIsGood({ server, transport }: FirstResponse): Promise<void> {
  const { closed } = await oneRequest(transport);
  expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2, connection_reused: false });
  expect(server.connections()).toBe(2);
}
