/**
 * `npm run soak`: whether commands that run for hours need more memory, more open files or more time the longer they last.
 * The commands are watched side by side. Only the last third of the time beside the first third says something; the event-loop
 * delay only on a machine that nothing else uses. The exit code is 1 only when a command failed.
 */
import { loadavg } from 'node:os';
import { readScriptOptions, wholeNumber } from '../../scripts/script-options.ts';
import { table, type Row, type Target } from '../bench.ts';
import { medianOf, outerThirds, tenths, type Reading } from '../watched-command.ts';
import { Workshop } from '../workshop.ts';
import { SOAKS, type SoakPlan } from './soaks.ts';

const NAME_WIDTH = 10;
const CELL_WIDTH = 8;
const AT_MOST: Target = { by: 'ratio', atMost: 1.1 };
/** Connections that happen to be open. */
const FEW_FILES: Target = { by: 'difference', atMost: 5 };

const usage = [
  'usage: npm run soak -- [options] [command …]',
  '',
  ...Object.entries(SOAKS).map(([name, { what }]) => `  ${name.padEnd(NAME_WIDTH)}${what}`),
  '',
  '  --minutes N             how long they are watched (default 60)',
  '  --chunks-per-second N   of each stream of run (default 50)',
  '',
].join('\n');

const { names, minutes, chunksPerSecond } = options();
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
const workshop = await Workshop.open();
process.stdout.write(`node ${process.version}, ${new Date().toISOString()}, ${minutes} min, ${names.join(', ')}\n`);
const plan: SoakPlan = { workshop, seconds: minutes * 60, chunksPerSecond };
await Promise.all(names.map(watched));

async function watched(name: string): Promise<void> {
  const { what, soak } = SOAKS[name] ?? {};
  if (soak === undefined) return;
  const readings: Reading[] = [];
  let failure: string | null = null;
  try {
    await soak(plan, (reading) => readings.push(reading));
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
    process.exitCode = 1;
  }
  process.stdout.write(`\n${name}: ${what}\n`);
  if (readings.length > 0) process.stdout.write(`${overTime(readings)}\n`);
  if (failure === null) process.stdout.write(table(rowsOf(readings)));
  else process.stdout.write(`  FAILED ${failure}\n`);
  process.stdout.write(`  ${readings.length} readings; load average ${(loadavg()[0] ?? 0).toFixed(2)} at the end\n`);
}

/** A row per quantity, a column per tenth of the time. */
function overTime(readings: readonly Reading[]): string {
  const parts = tenths(readings);
  const row = (title: string, read: (part: readonly Reading[]) => number): string => {
    const cells = parts.map((part) => cell(part.length === 0 ? NaN : read(part)));
    return `  ${title.padEnd(38)}${cells.map((text) => text.padStart(CELL_WIDTH)).join('')}`;
  };
  const most = (read: (reading: Reading) => number) => (part: readonly Reading[]) => Math.max(...part.map(read));
  return [
    row('minutes', (part) => (part.at(-1)?.seconds ?? NaN) / 60),
    row('resident set, MB, median', (part) => medianOf(part, ({ rss_mb }) => rss_mb)),
    row(
      'resident set, MB, largest',
      most(({ rss_mb }) => rss_mb),
    ),
    row('heap and external, MB, median', (part) => medianOf(part, ({ held_mb }) => held_mb)),
    row(
      'open files, largest',
      most(({ openFiles }) => openFiles),
    ),
    row('event-loop delay p99, ms, median', (part) => medianOf(part, ({ delay_p99_ms }) => delay_p99_ms)),
    row(
      'event-loop delay, ms, largest',
      most(({ delay_max_ms }) => delay_max_ms),
    ),
  ].join('\n');
}

function cell(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

function rowsOf(readings: readonly Reading[]): Row[] {
  const { first, last } = outerThirds(readings);
  const row = (what: string, unit: string, read: (reading: Reading) => number, target: Target | null): Row => ({
    what: `${what}, last third ÷ first third`,
    unit,
    ours: [medianOf(last, read)],
    peer: [medianOf(first, read)],
    target,
  });
  return [
    row('resident set', 'MB', ({ rss_mb }) => rss_mb, AT_MOST),
    row('open files', '', ({ openFiles }) => openFiles, FEW_FILES),
    row('event-loop delay p99', 'ms', ({ delay_p99_ms }) => delay_p99_ms, null),
  ];
}

function options(): { names: readonly string[]; minutes: number; chunksPerSecond: number } {
  const known = {
    minutes: { type: 'string', default: '60' },
    'chunks-per-second': { type: 'string', default: '50' },
  } as const;
  return readScriptOptions({ usage, options: known }, (given, positionals) => {
    const unknown = positionals.find((name) => SOAKS[name] === undefined);
    if (unknown !== undefined) throw new Error(`there is no soak '${unknown}'`);
    return {
      names: positionals.length > 0 ? positionals : Object.keys(SOAKS),
      minutes: wholeNumber('minutes', given.minutes, { min: 1 }),
      chunksPerSecond: wholeNumber('chunks-per-second', given['chunks-per-second'], { min: 1, max: 1000 }),
    };
  });
}
