import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeAiperfFile } from './aiperf-file.ts';
import { peer } from './workshop.ts';
import { inTurn, type Bench, type BenchContext, type Row } from './bench.ts';
import { lastJsonLine, numberOf, runProgram } from './child-program.ts';
import type { JsonLine } from './child-program.ts';

const FILE_BYTES = 500e6;
const PROGRAM = fileURLToPath(new URL('import-program.ts', import.meta.url));
const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
const PEAK_MEMORY = new URL('peak-memory.ts', import.meta.url).href;
/** Objects of JSON.parse, checked for keys that are there twice. */
const CPU_TARGET_RATIO = 3.5;
const PEAK_TARGET_MB = 150;
/** Independent of the size of the file. */
const WHOLE_PEAK_TARGET_MB = 300;

/** Reading AIPerf's records, each field that a run keeps, against Python. */
export const imports: Bench = {
  name: 'import',
  question: 'What does reading the records of another tool cost?',
  measure,
};

async function measure(context: BenchContext): Promise<readonly Row[]> {
  const { folder } = context.workshop;
  const file = join(folder, 'profile_export.jsonl');
  const requests = await writeAiperfFile(file, FILE_BYTES);
  const { size } = await stat(file);
  context.note(
    `${(size / 1e6).toFixed(0)} MB, ${requests} requests; ours gives records in nanoseconds, orjson the fields as they stand`,
  );
  const measured = await inTurn(
    context.rounds,
    {
      llmbench: () => read(process.execPath, [PROGRAM, file]),
      orjson: async () => read(await context.workshop.python(), [peer('read-aiperf-records.py'), file]),
      whole: () => wholeImport(file, join(folder, 'runs')),
    },
    context,
  );
  const ours = measured.get('llmbench') ?? [];
  const theirs = measured.get('orjson') ?? null;
  const whole = measured.get('whole') ?? [];
  if (theirs !== null) checkSame(ours, theirs);
  const cpu = (lines: readonly JsonLine[]): number[] => lines.map((line) => numberOf(line, 'cpu_s'));
  return [
    {
      what: `CPU to read ${(size / 1e6).toFixed(0)} MB of AIPerf records, against orjson`,
      unit: 's',
      ours: cpu(ours),
      peer: theirs === null ? null : cpu(theirs),
      target: theirs === null ? null : { by: 'ratio', atMost: CPU_TARGET_RATIO },
    },
    {
      what: 'peak memory of reading them',
      unit: 'MB',
      ours: ours.map((line) => numberOf(line, 'peak_mb')),
      peer: theirs === null ? null : theirs.map((line) => numberOf(line, 'peak_mb')),
      target: { by: 'value', atMost: PEAK_TARGET_MB },
    },
    {
      what: '`llmbench import` of it, CPU: hash, records stored as Parquet, all statistics',
      unit: 's',
      ours: cpu(whole),
      peer: null,
      target: null,
    },
    {
      what: 'peak memory of that',
      unit: 'MB',
      ours: whole.map((line) => numberOf(line, 'peak_mb')),
      peer: null,
      target: { by: 'value', atMost: WHOLE_PEAK_TARGET_MB },
    },
  ];
}

async function read(command: string, args: readonly string[]): Promise<JsonLine> {
  const { stdout } = await runProgram(command, args);
  return lastJsonLine(stdout);
}

/** The command as its user has it, into a store of its own. */
async function wholeImport(file: string, runs: string): Promise<JsonLine> {
  try {
    return await read(process.execPath, ['--import', PEAK_MEMORY, LAUNCHER, 'import', file, '--runs-dir', runs]);
  } finally {
    await rm(runs, { recursive: true, force: true });
  }
}

/** Two programs that read different things cannot be compared. */
function checkSame(ours: readonly JsonLine[], theirs: readonly JsonLine[]): void {
  for (const key of ['requests', 'tokens', 'gaps']) {
    const found = new Set([...ours, ...theirs].map((line) => numberOf(line, key)));
    if (found.size > 1) throw new Error(`the programs disagree on ${key}: ${[...found].join(', ')}`);
  }
}
