import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Unavailable } from './workshop.ts';
import type { Bench, BenchContext, Row } from './bench.ts';
import { jsonLines } from './child-program.ts';
import { inTurn } from './in-turn.ts';
import { pacedUrl, startPacedServer } from './paced-server.ts';
import { costOf, llmbenchRun, LOAD, REQUESTS, watched } from './whole-run.ts';
import type { WholeRun, Window } from './whole-run.ts';

/** Of the first chunks, which come 10 to 30 ms after the request. */
const TRUTH_MS = { p50: 20, p99: 29.8 } as const;
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
        { llmbench: () => llmbenchRun(url, context.workshop), AIPerf: () => peerRun(url, command, context) },
        context,
      );
      const ours = measured.get('llmbench');
      return ours === undefined ? [] : rowsOf(ours, measured.get('AIPerf') ?? null);
    } finally {
      await server.stop();
    }
  },
};

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
