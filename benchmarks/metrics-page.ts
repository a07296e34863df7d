import { createInterface } from 'node:readline';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import type { Bench, BenchContext, Row } from './bench.ts';
import { unlessUnavailable } from './unless-unavailable.ts';
import { lastJsonLine, numberOf, outputOf, runProgram, startProgram } from './child-program.ts';
import type { JsonLine } from './child-program.ts';
import { inTurn } from './in-turn.ts';
import { BURST_512, clientArguments, clientEnvironment, startPacedServer } from './paced-server.ts';
import { quantile } from './statistics.ts';
import type { Workshop } from './workshop.ts';

const CLIENT = fileURLToPath(new URL('stream-client.ts', import.meta.url));
const RECORDER = fileURLToPath(new URL('token-recorder.ts', import.meta.url));
const WARM_SECONDS = 1;
const SECONDS = 10;
/** The `Accept` header of Prometheus 3. */
const PROMETHEUS_HEADERS = {
  accept:
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
  'accept-encoding': 'gzip',
};

/**
 * The question: may Prometheus look while llmbench measures?
 * Compared: the time-stamp error of the whole program at 512 streams, scraped every second as Prometheus does and not
 * scraped at all; the time of an answer of `/metrics`, seen from another process; and the cost of counting a token in the
 * live metrics beside prom-client's own histogram.
 * It does not show: the cost of several scrapers, of a scrape over TLS, or of pages of other sizes. A
 * run's own page has about 700 series; those of idle runs are appended to reach the thousand of the target.
 */
export const metricsPage: Bench = {
  name: 'metrics-page',
  question: 'does a scrape of the live metrics delay the reading of 512 streams, and what does counting a token cost?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => [
    ...(await recordingRows(context)),
    ...(await scrapingRows(context)),
  ],
};

interface Reading {
  readonly error_p99_ms: number;
  readonly error_p999_ms: number;
  readonly answers_ms: readonly number[];
  readonly series: number;
}

async function scrapingRows(context: BenchContext): Promise<Row[]> {
  const server = await unlessUnavailable(
    context,
    'the page while streams are read',
    startPacedServer(context.workshop),
  );
  if (server === null) return [];
  try {
    const competitors = {
      'not scraped': () => reading(server.port, false, context.workshop),
      scraped: () => reading(server.port, true, context.workshop),
    };
    const measured = await inTurn(context.rounds, competitors, context);
    const scraped = measured.get('scraped');
    const alone = measured.get('not scraped');
    return scraped === undefined || alone === undefined ? [] : rowsOf(scraped, alone);
  } finally {
    await server.stop();
  }
}

function rowsOf(scraped: readonly Reading[], alone: readonly Reading[]): Row[] {
  // The first answer of a process is slow because nothing is compiled yet, and shows nothing else.
  const first = scraped.map(({ answers_ms }) => answers_ms[0] ?? NaN);
  const later = scraped.flatMap(({ answers_ms }) => answers_ms.slice(1));
  const answer = (what: string, ours: readonly number[]): Row => ({
    what: `/metrics of ${scraped[0]?.series ?? 0} series answered, ${what}`,
    unit: 'ms',
    ours,
    peer: null,
    target: { by: 'value', atMost: 20 },
  });
  const delay = (name: string, read: (reading: Reading) => number): Row => ({
    what: `time-stamp error ${name}, scraped every second − not scraped`,
    unit: 'ms',
    ours: scraped.map(read),
    peer: alone.map(read),
    target: { by: 'difference', atMost: 20 },
  });
  return [
    answer('the first time', first),
    answer(`p50 of ${later.length} later ones`, [quantile(later, 0.5)]),
    answer(`p99 of ${later.length} later ones`, [quantile(later, 0.99)]),
    delay('p99', (reading) => reading.error_p99_ms),
    delay('p99.9', (reading) => reading.error_p999_ms),
  ];
}

/** One run of the stream client, with its page served, and scraped if requested. */
async function reading(serverPort: number, scrapedEverySecond: boolean, workshop: Workshop): Promise<Reading> {
  const args = [CLIENT, '--metrics', ...clientArguments(serverPort, BURST_512, WARM_SECONDS, SECONDS)];
  const child = startProgram(process.execPath, args, {
    env: { ...process.env, ...clientEnvironment(workshop, BURST_512) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = outputOf(child, 'stream-client.ts');
  if (child.stdout === null) throw new Error('the client has no stdout');
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([
    new Promise<string>((resolve) => lines.once('line', resolve)),
    ended.then(() => Promise.reject(new Error('the client ended without a word'))),
  ]);
  const page = JSON.parse(first) as JsonLine;
  // Together, so that a client that breaks is named and not the scrape that it then refuses.
  const [answers_ms, { stdout }] = await Promise.all([
    scrapedEverySecond ? scrapes(String(page.metrics_url)) : [],
    ended,
  ]);
  const line = lastJsonLine(stdout);
  const failed = numberOf(line, 'failed');
  if (failed > 0) throw new Error(`${failed} requests failed`);
  return {
    error_p99_ms: numberOf(line, 'err_p99_ms'),
    error_p999_ms: numberOf(line, 'err_p999_ms'),
    answers_ms,
    series: numberOf(page, 'series'),
  };
}

async function scrapes(url: string): Promise<number[]> {
  await sleep(WARM_SECONDS * 1000);
  const answers_ms: number[] = [];
  for (let i = 0; i < SECONDS; i++) {
    const start = performance.now();
    const { statusCode, body } = await request(url, { headers: PROMETHEUS_HEADERS });
    await body.arrayBuffer();
    if (statusCode !== 200) throw new Error(`/metrics answered ${statusCode}`);
    const took_ms = performance.now() - start;
    answers_ms.push(took_ms);
    if (i < SECONDS - 1) await sleep(Math.max(0, 1000 - took_ms));
  }
  return answers_ms;
}

async function recordingRows(context: BenchContext): Promise<Row[]> {
  const recorder = (kind: string) => async (): Promise<JsonLine> =>
    lastJsonLine((await runProgram(process.execPath, [RECORDER, kind])).stdout);
  const measured = await inTurn(
    context.rounds,
    { 'recording, prom-client': recorder('prom-client'), 'recording, live': recorder('live') },
    context,
  );
  const live = measured.get('recording, live');
  if (live === undefined) return [];
  const promClient = measured.get('recording, prom-client');
  const row = (what: string, key: string): Row => ({
    what,
    unit: 'ns',
    ours: live.map((line) => numberOf(line, key)),
    peer: null,
    target: { by: 'value', atMost: 300 },
  });
  const rows = [row('recording a chunk', 'chunk_ns'), row('recording a first chunk', 'first_chunk_ns')];
  if (promClient === undefined) return rows;
  const peer = promClient.map((line) => numberOf(line, 'chunk_ns'));
  const ours = live.map((line) => numberOf(line, 'chunk_ns'));
  const beside: Row = {
    what: 'recording a chunk ÷ observe() of prom-client, child bound',
    unit: 'ns',
    ours,
    peer,
    target: { by: 'ratio', atMost: 0.1 },
  };
  return [...rows, beside];
}
