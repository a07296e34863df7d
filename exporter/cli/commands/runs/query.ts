import { significant } from '../../../../core/text/quantities.ts';
import { csvLine } from '../../../store/export/run-rows.ts';
import { queryRuns, type QueryRows, type QueryValue } from '../../../store/query/query-runs.ts';
import { CliError, ExitCode } from '../../failure.ts';
import { command } from '../../command.ts';
import { choice, flag } from '../../options/options.ts';
import { cutTo, plainText } from './run-listing.ts';
import { RUNS_DIR, storeOf, WHERE, written } from './stored-runs.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  where: { ...WHERE, help: 'include only matching runs in the views, e.g. scenario=nightly; may be repeated' },
  format: choice(['table', 'csv', 'json'] as const, 'output format; json: one object per line', 'table'),
  json: flag('short for --format json'),
  csv: flag('short for --format csv'),
};

const USAGE = 'llmbench runs query SQL [options]';
const EXAMPLES = [
  `llmbench runs query "SELECT run_id, model, concurrency, p99 FROM measures JOIN runs USING (run_id)
      WHERE measure = 'time_to_first_token' AND clock = 'sent' AND population = 'ok' ORDER BY start"`,
  `llmbench runs query "SELECT run_id, quantile_cont((first_content_ns - sent_ns) / 1e9, 0.99) AS ttft_p99
      FROM records WHERE phase = 'measure' AND outcome = 'ok' GROUP BY run_id" --csv`,
  `llmbench runs query "SELECT run_id, max(value) FROM server_samples
      WHERE name = 'vllm:num_requests_waiting' GROUP BY run_id" --where tag=baseline`,
  'llmbench runs query "DESCRIBE records"',
];
const VIEWS = `views: runs, measures (base units), records (one row per request, times in ns), server_samples
Each view has run_id. Statements are read-only and limited to the runs directory. In CSV, text
that a spreadsheet would treat as a formula is prefixed with an apostrophe.
`;
/** A table is printed only when all its rows are known. */
const MAX_TABLE_ROWS = 1000;
const MAX_CELL_WIDTH = 60;
const ABSENT = '–';

/** Queries all runs with SQL. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, notes: VIEWS, positionals: { name: 'statement (put it in quotes)', max: 1 } },
  async ({ options: values, positionals }) => {
    const [sql] = positionals;
    if (sql === undefined || sql.trim() === '')
      throw new CliError(`SQL is required: ${USAGE}; see --help for examples`);
    const format = values.json ? 'json' : values.csv ? 'csv' : values.format;
    const store = await storeOf(values['runs-dir']);
    const leftOut = (line: string): void => void process.stderr.write(`${plainText(line)}\n`);
    await queryRuns(store, { sql, conditions: values.where, leftOut }, PRINTERS[format]);
    return ExitCode.done;
  },
);

const PRINTERS: Readonly<Record<'table' | 'csv' | 'json', (rows: QueryRows) => Promise<void>>> = {
  table: printTable,
  csv: printCsv,
  json: printJson,
};

async function printCsv({ columns, batches }: QueryRows): Promise<void> {
  await written(csvLine(columns));
  for await (const rows of batches) await written(rows.map(csvLine).join(''));
}

async function printJson({ columns, batches }: QueryRows): Promise<void> {
  const object = (row: readonly QueryValue[]): string =>
    JSON.stringify(Object.fromEntries(columns.map((column, i) => [column, row[i] ?? null])));
  for await (const rows of batches) await written(rows.map((row) => `${object(row)}\n`).join(''));
}

async function printTable({ columns, batches }: QueryRows): Promise<void> {
  const rows: (readonly QueryValue[])[] = [];
  let more = false;
  for await (const batch of batches) {
    more = rows.length + batch.length > MAX_TABLE_ROWS;
    rows.push(...batch.slice(0, MAX_TABLE_ROWS - rows.length));
    if (more) break;
  }
  const cells = [columns.map(cellOf), ...rows.map((row) => row.map(cellOf))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const isNumber = columns.map((_, column) =>
    rows.every((row) => row[column] == null || typeof row[column] === 'number'),
  );
  for (const row of cells) {
    const padded = row.map((cell, i) => (isNumber[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)));
    await written(`${padded.join('  ').trimEnd()}\n`);
  }
  if (rows.length === 0) await written('no rows\n');
  if (more) await written(`… the first ${significant(MAX_TABLE_ROWS)} rows; --csv and --json print all\n`);
}

function cellOf(value: QueryValue): string {
  if (value === null) return ABSENT;
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return cutTo(plainText(text), MAX_CELL_WIDTH);
}
