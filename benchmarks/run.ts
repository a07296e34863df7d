/**
 * `npm run bench`: what llmbench costs, beside its peers and the limits of the machine, measured in one run. Only ratios
 * of one run may be compared: milliseconds of another machine or hour mean nothing. Slow is not a failure: the exit code
 * is 1 only when a program did not work.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { readScriptOptions, wholeNumber } from '../scripts/script-options.ts';
import { Unavailable, Workshop } from './workshop.ts';
import { table, type Bench, type BenchContext } from './bench.ts';
import { exposition } from './exposition.ts';
import { find } from './find/find.ts';
import { imports } from './import.ts';
import { judge } from './judge/judge.ts';
import { manyRuns, runsInBucket } from './many-runs.ts';
import { memory } from './memory.ts';
import { sessions } from './sessions.ts';
import { start } from './start.ts';
import { requests, stream, streams2000 } from './stream.ts';
import { workers } from './workers.ts';

const BENCHES: readonly Bench[] = [
  stream,
  streams2000,
  requests,
  sessions,
  workers,
  memory,
  manyRuns,
  runsInBucket,
  start,
  exposition,
  imports,
  judge,
  find,
];
/** Share of the cores that others may use before the reader is warned. */
const QUIET_LOAD = 0.25;

const usage = [
  'usage: npm run bench -- [options] [bench …]',
  '',
  ...BENCHES.map((bench) => `  ${bench.name.padEnd(14)}${bench.question}`),
  '',
  '  --rounds N     how often each pair is measured (default 5)',
  '  --minutes N    how long the memory of a run is watched (default 1)',
  '',
].join('\n');

const { names, rounds, minutes } = options();
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
const workshop = await Workshop.open();
process.stdout.write(
  `node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${new Date().toISOString()}\n`,
);
if ((loadavg()[0] ?? 0) > QUIET_LOAD * availableParallelism()) {
  process.stdout.write(`others use this machine (load average ${(loadavg()[0] ?? 0).toFixed(2)}): read ratios only\n`);
}
for (const bench of names) await report(bench);

/** Measures one bench and prints what came of it. */
async function report(bench: Bench): Promise<void> {
  process.stdout.write(`\n${bench.name}: ${bench.question}\n`);
  const loadBefore = loadavg()[0] ?? 0;
  const remarks: string[] = [];
  const context: BenchContext = {
    rounds,
    minutes,
    workshop,
    skipped: (what, reason) => void remarks.push(`skipped ${what}: ${reason}`),
    failed: (what, error) => {
      process.exitCode = 1;
      remarks.push(`FAILED ${what}: ${error instanceof Error ? error.message : String(error)}`);
    },
    note: (line) => void remarks.push(line),
  };
  const rows = await bench.measure(context).catch((error: unknown) => {
    if (error instanceof Unavailable) context.skipped('all of it', error.message);
    else context.failed(bench.name, error);
    return [];
  });
  const loadAfter = loadavg()[0] ?? 0;
  for (const remark of remarks) process.stdout.write(`  ${remark}\n`);
  if (rows.length > 0) process.stdout.write(table(rows));
  process.stdout.write(`  load average ${loadBefore.toFixed(2)} before, ${loadAfter.toFixed(2)} after\n`);
}

function options(): { names: readonly Bench[]; rounds: number; minutes: number } {
  const known = { rounds: { type: 'string', default: '5' }, minutes: { type: 'string', default: '1' } } as const;
  return readScriptOptions({ usage, options: known }, ({ rounds, minutes }, positionals) => {
    const chosen = positionals.map((name) => {
      const bench = BENCHES.find((candidate) => candidate.name === name);
      if (bench === undefined) throw new Error(`there is no bench '${name}'`);
      return bench;
    });
    return {
      names: chosen.length > 0 ? chosen : BENCHES,
      rounds: wholeNumber('rounds', rounds, { min: 1 }),
      minutes: positive('minutes', minutes),
    };
  });
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new Error(`--${option} '${text}' must be a number above 0`);
  return value;
}
