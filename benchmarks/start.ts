import { fileURLToPath } from 'node:url';
import { inTurn, type Bench, type BenchContext, type Row } from './bench.ts';
import { Unavailable } from './workshop.ts';
import { runProgram } from './child-program.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
const MIN_ROUNDS = 15;
const ATMOST = { by: 'ratio', atMost: 1.5 } as const;

/**
 * The question: what does a person wait for before `llmbench` says anything?
 * Compared: `llmbench --help` from the sources, with the compile cache that the first start left, and a bare `node -e 0`.
 * It does not show: what a command adds that loads more (`run`, `serve`), nor the first start ever.
 */
export const start: Bench = {
  name: 'start',
  question: 'what does starting the command line cost, beside a bare node?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const rounds = Math.max(MIN_ROUNDS, context.rounds);
    const help = [LAUNCHER, '--help'];
    await timed(help);
    const measured = await inTurn(rounds, { help: () => timed(help), node: () => timed(['-e', '0']) }, context);
    const ours = measured.get('help');
    const peer = measured.get('node');
    if (ours === undefined || peer === undefined) return [];
    const row = (what: string, read: (times: Times) => number): Row => ({
      what,
      unit: 'ms',
      ours: ours.map(read),
      peer: peer.map(read),
      target: ATMOST,
    });
    return [
      row('llmbench --help ÷ node -e 0, wall', (times) => times.wall_ms),
      row('llmbench --help ÷ node -e 0, CPU', (times) => times.cpu_ms),
    ];
  },
};

interface Times {
  readonly wall_ms: number;
  readonly cpu_ms: number;
}

/** Node does not report the CPU time of a child; bash does, in milliseconds. */
async function timed(args: readonly string[]): Promise<Times> {
  const script = 'TIMEFORMAT="%R %U %S"; time "$@" >/dev/null';
  const { stderr } = await runProgram('bash', ['-c', script, 'bash', process.execPath, ...args], {
    env: { LC_ALL: 'C' },
  }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Unavailable('no bash on this machine') : error;
  });
  const seconds = stderr.trim().split('\n').at(-1)?.split(' ').map(Number) ?? [];
  const [wall = NaN, user = NaN, system = NaN] = seconds;
  if (Number.isNaN(wall + user + system)) throw new Error(`bash reported no times: ${stderr}`);
  return { wall_ms: wall * 1000, cpu_ms: (user + system) * 1000 };
}
