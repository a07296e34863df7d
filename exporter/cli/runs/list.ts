import { RunIndex } from '../../store/index/run-index.ts';
import type { IndexedRun } from '../../store/index/rows.ts';
import { ExitCode } from '../failure.ts';
import { asksForHelp, helpText } from '../help-text.ts';
import { flag, integer, readOptions, text } from '../options.ts';
import { cutTo, plainText } from './plain-text.ts';
import { RUNS_DIR, storeOf, WHERE } from './stored-runs.ts';

const OPTIONS = {
  'runs-dir': RUNS_DIR,
  where: WHERE,
  limit: integer('how many of the newest runs to list', { min: 1, max: 1_000_000 }, 20),
  'run-id': text('ID', 'show this run instead of the list, as `runs show ID`', null),
  json: flag('print JSON'),
};

const USAGE = 'llmbench runs [list] [options]';
const EXAMPLES = [
  'llmbench runs',
  'llmbench runs list --where scenario=nightly --where status=completed --limit 100',
  "llmbench runs list --where 'model=llama*' --where tag!=broken --json",
];
const ABSENT = '–';
/** What a column may be cut to so that a line fits the terminal. */
const LEAST_WIDTH = 8;
const GAP = '  ';

/** Lists the finished runs, newest first. */
export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(helpText(USAGE, OPTIONS, EXAMPLES));
    return ExitCode.done;
  }
  const options = readOptions(OPTIONS, argv, process.env);
  if (options['run-id'] !== null) {
    const { show } = await import('./show.ts');
    return show(options['runs-dir'], options['run-id'], options.json);
  }
  const store = await storeOf(options['runs-dir']);
  const { runs, matching } = await RunIndex.use(store, (index) => ({
    runs: index.runs(options.where, options.limit),
    matching: index.count(options.where),
  }));
  if (options.json) {
    process.stdout.write(`${JSON.stringify(runs, null, 2)}\n`);
    return ExitCode.done;
  }
  if (matching === 0) {
    const which = options.where.length === 0 ? 'no finished runs' : 'no finished run of that kind';
    process.stdout.write(`${which} in ${store.directory}\n`);
  }
  const width = process.stdout.isTTY ? process.stdout.columns : Infinity;
  for (const line of listing(runs, width)) process.stdout.write(`${line}\n`);
  if (matching > runs.length) process.stdout.write(`… and ${matching - runs.length} older (--limit)\n`);
  return ExitCode.done;
}

/** One line per run, the columns aligned and cut so that a line fits `width`. */
export function listing(runs: readonly IndexedRun[], width: number): string[] {
  const whole = runs.filter(({ damage }) => damage === null);
  const rows = new Map(whole.map((run) => [run, cells(run)]));
  const widths = fitted(
    HEAD.map((head, column) => Math.max(head.length, ...[...rows.values()].map((row) => row[column]?.length ?? 0))),
    width,
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cutTo(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd();
  const lines = runs.map((run) => {
    const row = rows.get(run);
    return row === undefined ? `${run.run_id}${GAP}damaged: ${plainText(run.damage ?? '')}` : line(row);
  });
  return whole.length === 0 ? lines : [line(HEAD), ...lines];
}

const HEAD = ['run', 'status', 'scenario', 'model', 'load', 'from', 'tags'] as const;
/** Those that are cut when the terminal is narrow: an id must stay whole. */
const CUT_COLUMNS = [2, 3, 6, 5];

function cells(run: IndexedRun): string[] {
  return [
    run.run_id,
    run.status ?? ABSENT,
    plainText(run.scenario ?? ABSENT),
    plainText(run.model ?? ABSENT),
    load(run),
    run.tool === 'llmbench' ? (run.system ?? ABSENT) : plainText(run.tool ?? ABSENT),
    run.tags.join(','),
  ];
}

function load({ load_mode, concurrency, request_rate }: IndexedRun): string {
  const limit = concurrency === null ? '' : `c${concurrency}`;
  if (request_rate !== null) return `${request_rate}/s${limit === '' ? '' : ` ${limit}`}`;
  return limit === '' ? (load_mode ?? ABSENT) : limit;
}

/** Takes from the widest of the columns that may be cut until a line fits. */
function fitted(widths: readonly number[], width: number): number[] {
  const fitting = [...widths];
  const total = (): number => fitting.reduce((sum, each) => sum + each + GAP.length, -GAP.length);
  while (total() > width) {
    const widest = CUT_COLUMNS.reduce((a, b) => ((fitting[b] ?? 0) > (fitting[a] ?? 0) ? b : a));
    if ((fitting[widest] ?? 0) <= LEAST_WIDTH) break;
    fitting[widest] = (fitting[widest] ?? 0) - 1;
  }
  return fitting;
}
