import { createServer, request } from 'node:http';
import { listen } from './processes.ts';

/** A server for several models in front of one for `sim-model`: it puts that name into requests. Returns its URL. */
export async function startRenamedModels(upstream: string): Promise<{ url: string; stop: () => void }> {
  const server = createServer((message, response) => {
    const parts: Buffer[] = [];
    message.on('data', (part: Buffer) => parts.push(part));
    message.on('end', () => {
      const headers = { 'content-type': 'application/json' };
      const forwarded = request(new URL(message.url ?? '/', upstream), { method: message.method ?? 'GET', headers });
      forwarded.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] ?? '' });
        answer.pipe(response);
      });
      forwarded.end(
        Buffer.concat(parts)
          .toString()
          .replace(/"model":"[^"]*"/, '"model":"sim-model"')
      );
    });
  });
  const port = await listen(server);
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}
