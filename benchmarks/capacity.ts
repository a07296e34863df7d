import { fileURLToPath } from 'node:url';
import type { Bench, BenchContext, Row } from './bench.ts';
import { inTurn } from './in-turn.ts';
import { chunksPerSecond, clientArguments, startPacedServer } from './paced-server.ts';
import type { PacedLoad } from './paced-server.ts';
import { clientResult } from './stream.ts';
import type { ClientResult } from './stream.ts';
import { peer } from './workshop.ts';

const CLIENT = fileURLToPath(new URL('stream-client.ts', import.meta.url));
const WARM_SECONDS = 2;
const SECONDS = 2;
const LATEST_MS = 10;
const KEEPING_UP = 0.95;
const FEWEST_STREAMS = 128;
const MOST_STREAMS = 8192;
/** Steps of a quarter of an octave: nothing on a shared machine is known better than that. */
const STEP = 2 ** 0.25;
const HALF = { by: 'ratio', atMost: 1 / 2 } as const;

const OURS = 'llmbench';
const AIPERF = 'AIPerf-like Python loop';

/**
 * The question: how many chunks per second does one process read before it can no longer be trusted?
 * Compared: the highest rate at which the p99 of the time-stamp error stays below 10 ms and the client keeps up, found by
 * doubling the streams of 50 chunks/s each, spread evenly, and then by bisection to a quarter of an octave. Shown as
 * microseconds per chunk, the inverse. The server runs on the same cores.
 * It does not show: what is possible when the server is on another machine, or with `--workers`.
 */
export const capacity: Bench = {
  name: 'capacity',
  question: `how many chunks/s does one process read before its error p99 passes ${LATEST_MS} ms?`,
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const { workshop } = context;
    const server = await startPacedServer(workshop);
    const reached = (command: string, args: readonly string[]): Promise<number> =>
      highest(async (load) => {
        const clientArgs = clientArguments(server.port, load, WARM_SECONDS, SECONDS);
        return trusted(await clientResult(command, [...args, ...clientArgs], workshop, load), load);
      });
    try {
      const competitors = {
        [OURS]: async () => reached(process.execPath, [CLIENT]),
        [AIPERF]: async () => reached(await workshop.python(), [peer('stream-client.py')]),
      };
      const measured = await inTurn(context.rounds, competitors, context);
      for (const [name, rates] of measured) context.note(`${name}: ${rates.map(Math.round).join(', ')} chunks/s`);
      const perChunk_us = (rate: number): number => 1e6 / rate;
      const ours = measured.get(OURS);
      if (ours === undefined) return [];
      return [
        {
          what: `time per chunk at the highest trusted rate ÷ ${AIPERF}`,
          unit: 'µs',
          ours: ours.map(perChunk_us),
          peer: measured.get(AIPERF)?.map(perChunk_us) ?? null,
          target: HALF,
        },
      ];
    } finally {
      await server.stop();
    }
  },
};

const spread = (streams: number): PacedLoad => ({
  streams: Math.round(streams),
  tokens: 100,
  ttft_us: 10_000,
  itl_us: 20_000,
  tick_us: 0,
  jitter_us: 500_000,
});

function trusted({ error_p99_ms, chunksPerSecond: rate }: ClientResult, load: PacedLoad): boolean {
  // Between two answers of a stream lies the wait for a first chunk, during which nothing comes.
  const { tokens, ttft_us, jitter_us, itl_us } = load;
  const busy = (tokens * itl_us) / (tokens * itl_us + ttft_us + jitter_us / 2);
  return error_p99_ms <= LATEST_MS && rate >= KEEPING_UP * busy * chunksPerSecond(load);
}

/** Chunks per second of the highest load that is read in time; NaN when not even the lowest is. */
async function highest(isTrusted: (load: PacedLoad) => Promise<boolean>): Promise<number> {
  let good = NaN;
  let streams = FEWEST_STREAMS;
  while (streams <= MOST_STREAMS && (await isTrusted(spread(streams)))) {
    good = streams;
    streams *= 2;
  }
  let bad = streams;
  while (bad / good > STEP) {
    const middle = Math.sqrt(good * bad);
    if (await isTrusted(spread(middle))) good = middle;
    else bad = middle;
  }
  return chunksPerSecond(spread(good));
}
