import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ResultFile } from '../core/run/result.ts';
import { Unavailable } from './workshop.ts';
import type { Bench, BenchContext, Row } from './bench.ts';
import { jsonLines, outputOf, startProgram } from './child-program.ts';
import { inTurn } from './in-turn.ts';
import { pacedUrl, startPacedServer } from './paced-server.ts';
import type { PacedLoad } from './paced-server.ts';
import { cpuSecondsOfGroup } from './process-group.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
/** First chunks come 10 to 30 ms after the request, evenly spread, the others 20 ms apart. */
const LOAD: PacedLoad = { streams: 512, tokens: 100, ttft_us: 10_000, itl_us: 20_000, tick_us: 0, jitter_us: 20_000 };
const TRUTH_MS = { p50: 20, p99: 29.8 } as const;
const REQUESTS = 4096;
const SAMPLE_EVERY_MS = 100;
const TARGETS = {
  cpu: { by: 'ratio', atMost: 0.15 },
  p50: { by: 'value', atMost: 2 },
  p99: { by: 'value', atMost: 10 },
} as const;

/**
 * The question: what do the whole programs cost, and do they report what the server did?
 * Compared: `llmbench run` and AIPerf with all its processes, at 512 streams whose first chunks come after a known time.
 * CPU per chunk is that of the process group while requests are under way, without its start.
 * AIPerf is run by the command in the variable AIPERF, to which flags of `aiperf profile` are added, such as
 * `AIPERF="aiperf profile --tokenizer FOLDER"`.
 * It does not show: how AIPerf does on a machine with many cores.
 */
export const aiperf: Bench = {
  name: 'aiperf',
  question: 'what do llmbench and AIPerf cost at 512 streams, and do they report what the server did?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const command = process.env.AIPERF?.split(' ').filter((word) => word !== '') ?? [];
    if (command.length === 0)
      throw new Unavailable('set AIPERF="aiperf profile --tokenizer FOLDER" (see benchmarks/README.md)');
    const server = await startPacedServer(context.workshop);
    const url = pacedUrl(server.port, LOAD);
    try {
      const measured = await inTurn(
        context.rounds,
        { llmbench: () => ourRun(url, context), AIPerf: () => peerRun(url, command, context) },
        context,
      );
      const ours = measured.get('llmbench');
      return ours === undefined ? [] : rowsOf(ours, measured.get('AIPerf') ?? null);
    } finally {
      await server.stop();
    }
  },
};

interface WholeRun {
  readonly cpu_us: number;
  readonly chunksPerSecond: number;
  readonly ttftP50_ms: number;
  readonly ttftP99_ms: number;
}

/** Wall time in milliseconds since 1970. */
interface Window {
  readonly start_ms: number;
  readonly end_ms: number;
}

async function ourRun(url: string, { workshop }: BenchContext): Promise<WholeRun> {
  const folder = await mkdtemp(join(workshop.folder, 'runs-'));
  const options = ['--url', url, '--model', 'm', '--isl', '40', '--osl', String(LOAD.tokens), '--runs-dir', folder];
  const load = ['--concurrency', String(LOAD.streams), '--request-count', String(REQUESTS), '--no-server-metrics'];
  const { stdout, cpu } = await watched([process.execPath, LAUNCHER, 'run', '--json', ...options, ...load]);
  await rm(folder, { recursive: true });
  const { window, requests, measures } = JSON.parse(stdout) as ResultFile;
  const ttft = measures.find(
    ({ measure, population, clock }) => measure === 'time_to_first_token' && population === 'ok' && clock === 'sent',
  );
  if (ttft?.kind !== 'distribution') throw new Error('the result has no time to first token');
  const { p50, p99 } = ttft.percentiles;
  return {
    ...costOf(cpu, requests.ok ?? NaN, { start_ms: instant(window.start), end_ms: instant(window.end) }),
    ttftP50_ms: (p50.value ?? NaN) * 1000,
    ttftP99_ms: (p99.value ?? NaN) * 1000,
  };
}

const instant = (text: string | null): number => Date.parse(text ?? '');

interface AiperfSummary {
  readonly request_count: { readonly avg: number };
  readonly start_time: string;
  readonly end_time: string;
  readonly time_to_first_token: { readonly p50: number; readonly p99: number };
}

async function peerRun(url: string, command: readonly string[], { workshop }: BenchContext): Promise<WholeRun> {
  const folder = await mkdtemp(join(workshop.folder, 'aiperf-'));
  const { origin, pathname, search } = new URL(url);
  const { cpu } = await watched([
    ...command,
    ...['-m', 'm', '--url', origin, '--endpoint', `${pathname}${search}`, '--streaming'],
    ...['--concurrency', String(LOAD.streams), '--request-count', String(REQUESTS), '--isl', '40'],
    ...['--osl', String(LOAD.tokens), '--use-server-token-count', '--output-artifact-dir', folder],
  ]);
  const files = await readdir(folder, { recursive: true });
  const path = (ending: string): string => join(folder, files.find((file) => file.endsWith(ending)) ?? ending);
  const summary = JSON.parse(await readFile(path('profile_export_aiperf.json'), 'utf8')) as AiperfSummary;
  const window = windowOf(await readFile(path('profile_export.jsonl'), 'utf8'));
  await rm(folder, { recursive: true });
  return {
    ...costOf(cpu, summary.request_count.avg, window),
    ttftP50_ms: summary.time_to_first_token.p50,
    ttftP99_ms: summary.time_to_first_token.p99,
  };
}

/** From the start of the first request to the end of the last. */
function windowOf(records: string): Window {
  const times = jsonLines(records).map((line) => line.metadata as { request_start_ns: number; request_end_ns: number });
  return {
    start_ms: Math.min(...times.map((time) => time.request_start_ns)) / 1e6,
    end_ms: Math.max(...times.map((time) => time.request_end_ns)) / 1e6,
  };
}

interface CpuSample {
  readonly at_ms: number;
  readonly cpu_s: number;
}

function costOf(
  cpu: readonly CpuSample[],
  requests: number,
  window: Window,
): Pick<WholeRun, 'cpu_us' | 'chunksPerSecond'> {
  const inWindow = cpu.filter(({ at_ms }) => at_ms >= window.start_ms && at_ms <= window.end_ms);
  const first = inWindow[0];
  const last = inWindow.at(-1);
  if (first === undefined || last === undefined) throw new Error('the load was over before its CPU was read');
  const chunksPerSecond = (requests * LOAD.tokens * 1000) / (window.end_ms - window.start_ms);
  const cores = (last.cpu_s - first.cpu_s) / ((last.at_ms - first.at_ms) / 1000);
  return { cpu_us: (cores * 1e6) / chunksPerSecond, chunksPerSecond };
}

/** Runs a program to its end in a process group of its own, and reads the group's CPU time all the while. */
async function watched(command: readonly string[]): Promise<{ stdout: string; cpu: readonly CpuSample[] }> {
  const [program = '', ...args] = command;
  const child = startProgram(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const cpu: CpuSample[] = [];
  const sampling = setInterval(() => {
    if (child.pid !== undefined) cpu.push({ at_ms: Date.now(), cpu_s: cpuSecondsOfGroup(child.pid) });
  }, SAMPLE_EVERY_MS);
  try {
    const { stdout } = await outputOf(child, program);
    return { stdout, cpu };
  } finally {
    clearInterval(sampling);
  }
}

function rowsOf(ours: readonly WholeRun[], peer: readonly WholeRun[] | null): Row[] {
  const row = (what: string, unit: string, read: (run: WholeRun) => number, target: Row['target']): Row => ({
    what,
    unit,
    ours: ours.map(read),
    peer: peer?.map(read) ?? null,
    target,
  });
  const off = (what: 'ttftP50_ms' | 'ttftP99_ms', truth: number) => (run: WholeRun) => Math.abs(run[what] - truth);
  return [
    row('CPU per chunk, all processes', 'µs', (run) => run.cpu_us, TARGETS.cpu),
    row('time per chunk reached', 'µs', (run) => 1e6 / run.chunksPerSecond, null),
    row('TTFT p50, reported off by', 'ms', off('ttftP50_ms', TRUTH_MS.p50), TARGETS.p50),
    row('TTFT p99, reported off by', 'ms', off('ttftP99_ms', TRUTH_MS.p99), TARGETS.p99),
  ];
}
