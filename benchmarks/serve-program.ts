/**
 * `node --expose-gc serve-program.ts DIR`: answers `/metrics` and the API for the runs of a folder, prints {url}, and on
 * each line of its input the memory that is in use once what is of no use is gone.
 */
import { createInterface } from 'node:readline';
import { hostCheck } from '../exporter/http/allowed-host.ts';
import { listen } from '../exporter/http/listen.ts';
import { tokenAccess } from '../exporter/http/access/token.ts';
import { createServeApp } from '../exporter/http/serve-app.ts';
import { RunList } from '../exporter/publish/run-list.ts';
import { storeSource } from '../exporter/publish/run-reader.ts';
import { RunLibrary } from '../exporter/publish/views/run-library.ts';
import { openStore } from '../exporter/store/run-store.ts';

const [directory = ''] = process.argv.slice(2);
const { store } = await openStore(directory);
const problem = (line: string): void => void process.stderr.write(`${line}\n`);
const list = new RunList(store);
const app = createServeApp({
  source: storeSource(store, list),
  library: new RunLibrary(store, list, problem),
  version: 'bench',
  access: tokenAccess({ token: null }),
  hostCheck: hostCheck({ host: '127.0.0.1', allowedHosts: [] }),
  problem,
});
const server = await listen(app, { host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'end') break;
  // Twice: what only the first pass made unreachable goes with the second.
  gc?.();
  gc?.();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  process.stdout.write(`${JSON.stringify({ heap_bytes: heapUsed, buffer_bytes: arrayBuffers, rss_bytes: rss })}\n`);
}
await server.close();
