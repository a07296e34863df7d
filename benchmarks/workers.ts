import { inTurn, type Bench, type BenchContext, type Row } from './bench.ts';
import { clientArguments, pacedUrl, startPacedServer } from './paced-server.ts';
import { clientResult } from './stream.ts';
import { COMPILED_AFTER_SECONDS, llmbenchRun, LOAD, type Cost, type OwnRun } from './whole-run.ts';
import { peer } from './workshop.ts';

const ONE = '--workers 1';
const TWO = '--workers 2';
const SOCKETS_OF_ONE = 'bare sockets of one process';
const SOCKETS_OF_TWO = 'bare sockets of two processes';
const A_FIFTH_MORE = { by: 'ratio', atMost: 1.2 } as const;
const WARM_SECONDS = 2;
const SECONDS = 5;

/**
 * The question: what does it cost to spread a run over two workers?
 * Compared: `llmbench run` with two workers and with one, at 512 streams whose first chunks come after a known time: CPU of all
 * its threads per chunk while requests are under way. Each worker compiles the code that reads the streams for itself, in the
 * first seconds, whatever the length of the run: a row is without them. Beside it, what the same costs where nothing is
 * shared: a loop on Node's sockets that waits for the end of each response, as one process with all streams and as two with half
 * of them each. Each of two reads fewer chunks whenever it wakes up.
 * It does not show: how much more two of them read, which requires that the server has other cores.
 */
export const workers: Bench = {
  name: 'workers',
  question: 'what does it cost to spread a run over two workers?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const { workshop } = context;
    const server = await startPacedServer(workshop);
    const url = pacedUrl(server.port, LOAD);
    const run = (count: string) => (): Promise<OwnRun> => llmbenchRun(url, workshop, ['--workers', count]);
    const sockets = (processes: number) => async (): Promise<Cost> => {
      const load = { ...LOAD, streams: LOAD.streams / processes };
      const args = [peer('socket-client.mjs'), ...clientArguments(server.port, load, WARM_SECONDS, SECONDS)];
      const clients = Array.from({ length: processes }, () => clientResult(process.execPath, args, workshop, load));
      return total(await Promise.all(clients));
    };
    try {
      const competitors: Record<string, () => Promise<Cost & Partial<OwnRun>>> = {
        [ONE]: run('1'),
        [TWO]: run('2'),
        [SOCKETS_OF_ONE]: sockets(1),
        [SOCKETS_OF_TWO]: sockets(2),
      };
      const measured = await inTurn(context.rounds, competitors, context);
      const row = (
        what: string,
        two: string,
        one: string,
        read: (cost: Cost & Partial<OwnRun>) => number,
        target: Row['target'],
      ): Row[] => {
        const [ours, peer] = [measured.get(two), measured.get(one)];
        if (ours === undefined || peer === undefined) return [];
        return [{ what: `${what}, ${two} ÷ ${one}`, unit: 'µs', ours: ours.map(read), peer: peer.map(read), target }];
      };
      const cpu = ({ cpu_us }: Cost): number => cpu_us;
      const compiled = ({ compiledCpu_us = NaN }: Partial<OwnRun>): number => compiledCpu_us;
      const time = ({ chunksPerSecond }: Cost): number => 1e6 / chunksPerSecond;
      return [
        ...row('CPU per chunk', TWO, ONE, cpu, A_FIFTH_MORE),
        ...row(`CPU per chunk after ${COMPILED_AFTER_SECONDS} s`, TWO, ONE, compiled, A_FIFTH_MORE),
        ...row('CPU per chunk', SOCKETS_OF_TWO, SOCKETS_OF_ONE, cpu, null),
        ...row('time per chunk reached', TWO, ONE, time, null),
      ];
    } finally {
      await server.stop();
    }
  },
};

function total(clients: readonly Cost[]): Cost {
  const chunksPerSecond = clients.reduce((sum, each) => sum + each.chunksPerSecond, 0);
  const cores_us = clients.reduce((sum, each) => sum + each.cpu_us * each.chunksPerSecond, 0);
  return { cpu_us: cores_us / chunksPerSecond, chunksPerSecond };
}
