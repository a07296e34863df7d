/**
 * Serves two pages of metrics in turn, at any path ending in /metrics, as text. Prints one JSON line with its port.
 *
 * usage: node bench/pages-program.ts <page> <page>
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const pages = process.argv.slice(2).map((path) => readFileSync(path));
const requested = new Map<string, number>();
const server = createServer((request, response) => {
  const path = request.url ?? '';
  const before = requested.get(path) ?? 0;
  const page = pages[before % pages.length];
  requested.set(path, before + 1);
  if (page === undefined || !path.endsWith('/metrics')) response.writeHead(404).end();
  else
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4', 'content-length': page.length }).end(page);
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: (server.address() as AddressInfo).port })));
