import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import type { Bench, BenchContext, Row } from './bench.ts';
import { numberOf, startProgram } from './child-program.ts';
import type { JsonLine } from './child-program.ts';
import { copyRun, PUBLISHED_FAMILIES, writeFinishedRuns } from './finished-runs.ts';
import { quantile } from './statistics.ts';

const PROGRAM = fileURLToPath(new URL('serve-program.ts', import.meta.url));
/** The default of `serve`. */
const RUNS = 200;
const SCRAPES = 50;
const MB = 1e6;

/**
 * The question: what does it cost Prometheus and this machine that `serve` shows 200 finished runs?
 * Measured: the time of an answer of `/metrics` seen from another process, plain and compressed, the first one and later
 * ones, one after a new run, and the heap beside that of the same program without runs. The kept text is in buffers
 * outside of the heap.
 * It does not show: what Prometheus does with the page, or the cost of a network.
 */
export const serveScrape: Bench = {
  name: 'serve-scrape',
  question: 'how long does a scrape of 200 finished runs take, and what memory do they need besides their text?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const empty = join(await mkdtemp(join(context.workshop.folder, 'serve-')), 'empty');
    const full = join(await mkdtemp(join(context.workshop.folder, 'serve-')), 'full');
    await Promise.all([mkdir(empty), mkdir(full)]);
    await writeFinishedRuns(full, RUNS);
    const without = await measured(empty, async (serve) => {
      await serve.scrape('identity');
      return serve.memory();
    });
    return measured(full, async (serve) => rowsOf(serve, without, full, context));
  },
};

async function rowsOf(serve: Serve, without: JsonLine, directory: string, context: BenchContext): Promise<Row[]> {
  const first = await serve.scrape('identity');
  const plain: number[] = [];
  const compressed: number[] = [];
  for (let i = 0; i < SCRAPES; i++) {
    plain.push((await serve.scrape('identity')).took_ms);
    compressed.push((await serve.scrape('gzip')).took_ms);
  }
  const api: number[] = [];
  for (let i = 0; i < SCRAPES; i++) api.push((await serve.get('/api/v1/runs', 'gzip')).took_ms);
  const memory = await serve.memory();
  await copyRun(directory, RUNS);
  const afterNewRun = await serve.scrape('identity');
  const lines = first.text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  context.note(
    `${lines} series in ${(first.text.length / MB).toFixed(1)} MB of text; ${PUBLISHED_FAMILIES} families of each run's server; ` +
      `buffers ${(numberOf(memory, 'buffer_bytes') / MB).toFixed(1)} MB, resident ${(numberOf(memory, 'rss_bytes') / MB).toFixed(0)} MB`,
  );
  const answer = (what: string, ours: number, atMost: number | null): Row => ({
    what,
    unit: 'ms',
    ours: [ours],
    peer: null,
    target: atMost === null ? null : { by: 'value', atMost },
  });
  return [
    answer(`/metrics of ${RUNS} runs, the first time, all of them read`, first.took_ms, null),
    answer(`/metrics, p50 of ${SCRAPES} later ones`, quantile(plain, 0.5), 100),
    answer('/metrics, p99', quantile(plain, 0.99), 100),
    answer('/metrics, gzip, p50', quantile(compressed, 0.5), 100),
    answer('/metrics, gzip, p99', quantile(compressed, 0.99), 100),
    answer('/metrics after a run came', afterNewRun.took_ms, null),
    answer('/api/v1/runs, 100 of them, p50', quantile(api, 0.5), null),
    {
      what: `heap with ${RUNS} runs − without, besides the kept text`,
      unit: 'MB',
      ours: [numberOf(memory, 'heap_bytes') / MB],
      peer: [numberOf(without, 'heap_bytes') / MB],
      target: { by: 'difference', atMost: 20 },
    },
  ];
}

interface Answer {
  readonly took_ms: number;
  readonly text: string;
}

/** A process that serves the runs of a folder. */
interface Serve {
  get(path: string, encoding: string): Promise<Answer>;
  scrape(encoding: string): Promise<Answer>;
  memory(): Promise<JsonLine>;
}

async function measured<T>(directory: string, work: (serve: Serve) => Promise<T>): Promise<T> {
  const child = startProgram(process.execPath, ['--expose-gc', PROGRAM, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('serve-program.ts has no input or output');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<JsonLine> => JSON.parse(String((await lines.next()).value)) as JsonLine;
  const { url } = await next();
  const get = async (path: string, encoding: string): Promise<Answer> => {
    const start = performance.now();
    const { statusCode, body } = await request(`${String(url)}${path}`, { headers: { 'accept-encoding': encoding } });
    const bytes = await body.arrayBuffer();
    const took_ms = performance.now() - start;
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`);
    return { took_ms, text: encoding === 'identity' ? Buffer.from(bytes).toString() : '' };
  };
  try {
    return await work({
      get,
      scrape: (encoding) => get('/metrics', encoding),
      memory() {
        stdin.write('memory\n');
        return next();
      },
    });
  } finally {
    stdin.end('end\n');
  }
}
