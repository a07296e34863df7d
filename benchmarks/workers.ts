import type { Bench, BenchContext, Row } from './bench.ts';
import { inTurn } from './in-turn.ts';
import { pacedUrl, startPacedServer } from './paced-server.ts';
import { llmbenchRun, LOAD } from './whole-run.ts';
import type { WholeRun } from './whole-run.ts';

const ONE = '--workers 1';
const TWO = '--workers 2';
const A_FIFTH_MORE = { by: 'ratio', atMost: 1.2 } as const;

/**
 * The question: what does it cost to spread a run over two processes?
 * Compared: `llmbench run` with two workers and with one, at 512 streams whose first chunks come after a known time: CPU of all
 * its processes per chunk while requests are under way.
 * It does not show: how much more two of them read, which requires that the server has other cores.
 */
export const workers: Bench = {
  name: 'workers',
  question: 'what does it cost to spread a run over two processes?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const server = await startPacedServer(context.workshop);
    const url = pacedUrl(server.port, LOAD);
    const run = (count: string) => (): Promise<WholeRun> => llmbenchRun(url, context.workshop, ['--workers', count]);
    try {
      const measured = await inTurn(context.rounds, { [ONE]: run('1'), [TWO]: run('2') }, context);
      const [one, two] = [measured.get(ONE), measured.get(TWO)];
      if (one === undefined || two === undefined) return [];
      const row = (what: string, unit: string, read: (each: WholeRun) => number, target: Row['target']): Row => ({
        what: `${what}, ${TWO} ÷ ${ONE}`,
        unit,
        ours: two.map(read),
        peer: one.map(read),
        target,
      });
      return [
        row('CPU per chunk, all processes', 'µs', ({ cpu_us }) => cpu_us, A_FIFTH_MORE),
        row('time per chunk reached', 'µs', ({ chunksPerSecond }) => 1e6 / chunksPerSecond, null),
      ];
    } finally {
      await server.stop();
    }
  },
};
