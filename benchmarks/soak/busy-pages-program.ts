/**
 * Serves, at any path ending in /metrics, the page of an engine under load: each path is a server of its own whose histograms
 * have a few more observations at each scrape. Prints one JSON line with its port.
 *
 * usage: node busy-pages-program.ts <page>
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Requests that end between two scrapes. */
const REQUESTS = 10;

interface Line {
  readonly name: string;
  value: number;
}

/** Parts of the page whose lines are written anew: a histogram's, or one sample. */
type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'sample'; readonly line: Line; readonly isCounter: boolean }
  | { readonly kind: 'histogram'; readonly buckets: Line[]; readonly count: Line; readonly sum: Line };

const text = readFileSync(process.argv[2] ?? '', 'utf8');
const servers = new Map<string, readonly Part[]>();
const server = createServer((request, response) => {
  const path = request.url ?? '';
  if (!path.endsWith('/metrics')) {
    response.writeHead(404).end();
    return;
  }
  const parts = servers.get(path) ?? partsOf(text);
  servers.set(path, parts);
  const body = parts.map(nextOf).join('\n');
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(`${body}\n`);
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: (server.address() as AddressInfo).port })));

function partsOf(page: string): Part[] {
  const parts: Part[] = [];
  let type = '';
  let buckets: Line[] = [];
  let count: Line | null = null;
  for (const row of page.trimEnd().split('\n')) {
    if (row.startsWith('#')) {
      if (row.startsWith('# TYPE')) type = row.split(' ').at(-1) ?? '';
      parts.push({ kind: 'text', text: row });
      continue;
    }
    const space = row.lastIndexOf(' ');
    const line = { name: row.slice(0, space), value: Number(row.slice(space + 1)) };
    if (type !== 'histogram') parts.push({ kind: 'sample', line, isCounter: type === 'counter' });
    else if (line.name.includes('_bucket{')) buckets.push(line);
    else if (line.name.includes('_count{')) count = line;
    else if (count !== null) {
      parts.push({ kind: 'histogram', buckets, count, sum: line });
      buckets = [];
    }
  }
  return parts;
}

function nextOf(part: Part): string {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'sample') {
    const { line, isCounter } = part;
    // A start time that moved would be another process.
    if (line.name.includes('start_time')) return written(line);
    if (isCounter) line.value += Math.floor(Math.random() * 100);
    else if (Math.random() < 0.5) line.value = Math.floor(Math.random() * 1000);
    return written(line);
  }
  const { buckets, count, sum } = part;
  for (let i = 0; i < REQUESTS; i++) {
    // The sum of two: most observations are in the middle.
    const at = Math.floor(((Math.random() + Math.random()) / 2) * buckets.length);
    for (const bucket of buckets.slice(at)) bucket.value += 1;
    count.value += 1;
    sum.value += Math.random();
  }
  return [...buckets, count, sum].map(written).join('\n');
}

function written({ name, value }: Line): string {
  return `${name} ${value}`;
}
