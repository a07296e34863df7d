import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { recordedPages } from '../../fixtures/captures.ts';

/** One recorded target: what the dashboards of these systems are tried on. */
export interface Recording {
  /** The job under which it is scraped. */
  readonly job: string;
  readonly instance: string;
  /** Its name among the captures. */
  readonly file: string;
}

const FILES: readonly (readonly [system: string, instance: string, file: string])[] = [
  ['vllm', 'vllm', 'vllm/series.txt.br'],
  ['sglang', 'engine', 'sglang/series.txt.br'],
  ['sglang', 'smg', 'smg/series.txt.br'],
  ['sglang', 'router', 'sglang-router/series.txt.br'],
  ['trtllm', 'trtllm', 'trtllm/series.txt.br'],
  ['triton', 'triton', 'triton/series.txt.br'],
  ['dynamo', 'frontend', 'dynamo/b-steady-c32/scrapes/frontend.txt.br'],
  ['dynamo', 'worker1', 'dynamo/b-steady-c32/scrapes/worker1.txt.br'],
  ['dynamo', 'worker2', 'dynamo/b-steady-c32/scrapes/worker2.txt.br'],
  // LMCache is a row of the dashboard of vLLM, on whose page it is.
  ['vllm', 'lmcache', 'lmcache/series.txt.br'],
];

export const RECORDINGS: readonly Recording[] = FILES.map(([system, instance, file]) => ({
  job: `replay-${system}`,
  instance: `replay-${instance}`,
  file,
}));

/** A server with one page per recording. */
export interface Replayer {
  readonly address: string;
  /** Path of a recording's page. */
  path(recording: Recording): string;
  /** Names of all samples of a job's recordings. */
  samples(job: string): ReadonlySet<string>;
  /** When the first page was scraped. */
  startSeconds(): number;
  stop(): Promise<void>;
}

/**
 * Serves each recording from its first page to its last within `seconds` of its first scrape, in equal steps; then the last
 * page stays. So every change of the recording happens while Prometheus looks.
 */
export async function startReplayer(seconds: number): Promise<Replayer> {
  const recordings = RECORDINGS.map((recording) => ({ ...recording, pages: pagesOf(recording.file) }));
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
    startSeconds: () => Math.min(...firstAsked.values()) / 1000,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The pages of a recording without those that could not be read. */
function pagesOf(file: string): string[] {
  const pages = recordedPages(file).flatMap(({ text }) => text ?? []);
  if (pages.length < 2) throw new Error(`${file}: a recording has less than two pages`);
  return pages;
}

function samplesOf(pages: readonly string[]): ReadonlySet<string> {
  const names = pages.flatMap((page) => [...page.matchAll(/^([a-zA-Z_:][\w:]*)/gm)].map(([, name]) => name ?? ''));
  return new Set(names);
}
