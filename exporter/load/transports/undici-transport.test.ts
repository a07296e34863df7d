import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { oneRequest } from '../testing/one-request.ts';
import { UndiciTransport } from './undici-transport.ts';

test('TLS to a server without TLS', async () => {
  // The hello of TLS is no request; such a server reports it in plain text.
  const plain = createServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const { port } = plain.address() as AddressInfo;
  const transport = new UndiciTransport({ origin: `https://127.0.0.1:${port}` });
  const { closed } = await oneRequest(transport);
  await transport.close();
  plain.close();
  expect(closed.record).toMatchObject({ outcome: 'error', reason: 'tls' });
});
