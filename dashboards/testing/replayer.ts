import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/** Pages of real servers, recorded once a second, that lie beside the checkout; without them there is nothing to replay. */
const FIXTURES = fileURLToPath(new URL('../../../shared/fixtures/', import.meta.url));

/** One recorded target: what the dashboards of these systems are tried on. */
export interface Recording {
  /** The job under which it is scraped. */
  readonly job: string;
  readonly instance: string;
  readonly file: string;
}

const FILES: readonly (readonly [system: string, instance: string, file: string])[] = [
  ['vllm', 'vllm', 'vllm/series.txt.gz'],
  ['sglang', 'engine', 'sglang/series.txt.gz'],
  ['sglang', 'smg', 'smg/series.txt.gz'],
  ['sglang', 'router', 'sglang-router/series.txt.gz'],
  ['trtllm', 'trtllm', 'trtllm/series.txt.gz'],
  ['triton', 'triton', 'triton/series.txt.gz'],
  ['dynamo', 'frontend', 'dynamo-mocker/b-steady-c32/scrapes/frontend.prom.txt.gz'],
  ['dynamo', 'worker1', 'dynamo-mocker/b-steady-c32/scrapes/worker1.prom.txt.gz'],
  ['dynamo', 'worker2', 'dynamo-mocker/b-steady-c32/scrapes/worker2.prom.txt.gz'],
  // LMCache is a row of the dashboard of vLLM, on whose page it is.
  ['vllm', 'lmcache', 'lmcache/series.txt.gz'],
];

export const RECORDINGS: readonly Recording[] = FILES.map(([system, instance, file]) => ({
  job: `replay-${system}`,
  instance: `replay-${instance}`,
  file: `${FIXTURES}${file}`,
})).filter(({ file }) => existsSync(file));

/** A server with one page per recording. */
export interface Replayer {
  readonly address: string;
  /** Path of a recording's page. */
  path(recording: Recording): string;
  /** Names of all samples of a job's recordings. */
  samples(job: string): ReadonlySet<string>;
  stop(): Promise<void>;
}

/**
 * Serves each recording from its first page to its last within `seconds` of its first scrape, in equal steps; then the last
 * page stays. So every change of the recording happens while Prometheus looks.
 */
export async function startReplayer(seconds: number): Promise<Replayer> {
  const recordings = await Promise.all(
    RECORDINGS.map(async (recording) => ({ ...recording, pages: pagesOf(await readFile(recording.file)) })),
  );
  const firstAsked = new Map<string, number>();
  const server = createServer((request, response) => {
    const recording = recordings.find(({ instance }) => request.url === `/${instance}`);
    if (recording === undefined) {
      response.writeHead(404).end();
      return;
    }
    const now = Date.now();
    const start = firstAsked.get(recording.instance) ?? now;
    firstAsked.set(recording.instance, start);
    const { pages } = recording;
    const page = Math.floor(((now - start) / 1000 / seconds) * pages.length);
    response.setHeader('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    response.end(pages[Math.min(page, pages.length - 1)]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const jobs = new Set(recordings.map(({ job }) => job));
  const samples = new Map(
    [...jobs].map((job) => [
      job,
      samplesOf(recordings.filter((recording) => recording.job === job).flatMap(({ pages }) => pages)),
    ]),
  );
  return {
    address: `127.0.0.1:${port}`,
    path: ({ instance }) => `/${instance}`,
    samples: (job) => samples.get(job) ?? new Set(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The pages after `# scrape <time>` lines; what failed has `# scrape_failed` and is no page. */
function pagesOf(file: Buffer): string[] {
  const [, ...parts] = gunzipSync(file)
    .toString()
    .split(/^# scrape(?=[ _])/m);
  const pages = parts.filter((part) => part.startsWith(' ')).map((part) => part.slice(part.indexOf('\n') + 1));
  if (pages.length < 2) throw new Error('a recording has less than two pages');
  return pages;
}

function samplesOf(pages: readonly string[]): ReadonlySet<string> {
  const names = pages.flatMap((page) => [...page.matchAll(/^([a-zA-Z_:][\w:]*)/gm)].map(([, name]) => name ?? ''));
  return new Set(names);
}
