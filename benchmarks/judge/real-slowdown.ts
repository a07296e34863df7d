import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Comparison } from '../../core/api/comparison.ts';
import { dynamo } from '../../scripts/real-servers/dynamo/dynamo.ts';
import { installFolder, freePort } from '../../scripts/real-servers/processes.ts';
import type { RunningServer } from '../../scripts/real-servers/real-server.ts';
import type { Bench, BenchContext, Row } from '../bench.ts';
import { startProgram } from '../child-program.ts';
import { Unavailable } from '../workshop.ts';
import { shareText } from './worlds.ts';

const LLMBENCH = fileURLToPath(new URL('../../bin/llmbench.js', import.meta.url));
const TRIES = 10;
const PAIRS = 6;
const SLOWER = 1.1;
/** Six pairs decide for one gating measure. In a closed loop throughput falls with everything that takes longer. */
const GATE = 'output_token_throughput';
const LOAD = ['--concurrency', '4', '--request-count', '120', '--isl', '256', '--osl', '16'];
/** Exit code of `ab` when B has regressed. */
const REGRESSED = 99;

/**
 * The question: does `llmbench ab` find that a real server is slower, and is it silent about an equal one?
 * Compared: Dynamo's frontend and router before mock engines, one of which takes 10 % longer for each step; the other tries
 * are of two servers that are equal. One try is 2 × 6 runs of 120 requests.
 * It does not show: how much runs on a GPU scatter.
 */
export const judgeReal: Bench = {
  name: 'judge-real',
  question: `is a real Dynamo found that is ${percentSlower()} slower, with ${PAIRS} pairs of short runs? (half an hour)`,
  async measure(context) {
    const folder = installFolder(dynamo.name, undefined);
    if (!existsSync(join(folder, 'model', 'config.json')))
      throw new Unavailable('install Dynamo: node scripts/real-servers/start.ts dynamo --install-only');
    const servers: RunningServer[] = [];
    const start = async (...args: readonly string[]): Promise<RunningServer> => {
      const running = await dynamo.start({ folder, port: await freePort(), args });
      servers.push(running);
      return running;
    };
    try {
      const base = await start();
      const equal = await start();
      const slow = await start('--speedup-ratio', String(1 / SLOWER));
      const found = await tries(context, base, slow, `${percentSlower()} slower`);
      const falseAlarms = await tries(context, base, equal, 'equal');
      const missed = TRIES - found;
      context.note(
        `${percentSlower()} slower: found ${shareText(found, TRIES)}; equal: regressed ${shareText(falseAlarms, TRIES)}`,
      );
      return [
        row(`${percentSlower()} slower and not found, of ${TRIES} ab with ${PAIRS} pairs`, missed, 1),
        row(`equal and called regressed, of ${TRIES} ab with ${PAIRS} pairs`, falseAlarms, 0),
      ];
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  },
};

/** How many comparisons of the two servers say that B has regressed. */
async function tries(context: BenchContext, a: RunningServer, b: RunningServer, what: string): Promise<number> {
  let regressed = 0;
  for (let i = 1; i <= TRIES; i++) {
    const { verdict, reason, preflight, measures } = await ab(context, a, b);
    if (verdict === 'regressed') regressed++;
    const gating = measures.find((each) => each.gating);
    const text = gating?.effect == null ? 'no effect' : effectText(gating.effect);
    const blocks = preflight.filter(({ outcome }) => outcome === 'failed').map(({ sentence }) => sentence);
    const because = verdict === 'undecided' ? ` (${[reason, ...blocks].join(': ')})` : '';
    context.note(`${what}, try ${i}: ${verdict}${because}, ${GATE} ${text}`);
  }
  return regressed;
}

async function ab({ workshop }: BenchContext, a: RunningServer, b: RunningServer): Promise<Comparison> {
  const runs = await mkdtemp(join(workshop.folder, 'ab-'));
  const tokenizer = a.addresses.find(([name]) => name === 'tokenizer')?.[1] ?? '';
  const child = startProgram(
    process.execPath,
    [
      ...[LLMBENCH, 'ab', '--a', a.url, '--b', b.url, '--pairs', String(PAIRS), '--gate', GATE, '--json'],
      ...['--model', a.model, '--tokenizer', tokenizer, ...dynamo.runArgs, ...LOAD, '--runs-dir', runs],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  let errors = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0 && code !== REGRESSED) throw new Error(`llmbench ab ended with code ${code}: ${errors.slice(-400)}`);
  const comparison = JSON.parse(output) as Comparison;
  if ((code === REGRESSED) !== (comparison.verdict === 'regressed'))
    throw new Error(`llmbench ab ended with code ${code} and the verdict ${comparison.verdict}`);
  return comparison;
}

function row(what: string, tries: number, atMost: number): Row {
  return { what, unit: 'tries', ours: [tries], peer: null, target: { by: 'value', atMost } };
}

function effectText({ low, estimate, high }: { low: number; estimate: number; high: number | null }): string {
  const change = (ratio: number | null): string => (ratio === null ? 'open' : `${(100 * (ratio - 1)).toFixed(1)} %`);
  return `${change(estimate)} (${change(low)} to ${change(high)})`;
}

function percentSlower(): string {
  return `${Math.round(100 * (SLOWER - 1))} %`;
}
