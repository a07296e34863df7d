import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addRun } from '../changes/add-run.ts';
import { addedResult, addedRun, throughput } from '../fixtures/added-run.ts';
import { parseCondition } from '../index/select-runs.ts';
import { openStore } from '../run-store.ts';
import type { RunStore } from '../run-store.ts';
import { queryRuns, type QueryValue } from './query-runs.ts';

const VERSION_1 = '20261121T222600Z-version1ab';
const FIXTURE = fileURLToPath(new URL(`../migrations/fixtures/version-1/${VERSION_1}`, import.meta.url));

/** DuckDB is optional: without it only the message is tested. */
const isInstalled = await import('@duckdb/node-api').then(
  () => true,
  () => false,
);
const withDuckDb = isInstalled ? describe : describe.skip;

let directory: string;
let store: RunStore;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "llmbench-query's-"));
  ({ store } = await openStore(directory));
  const added = addedRun('r1', { tags: ['a', 'b'] }, 10);
  await addRun(store, { ...added, result: addedResult(added.run, [throughput(7.5)]) });
  await cp(FIXTURE, join(directory, VERSION_1), { recursive: true });
});

afterAll(() => rm(directory, { recursive: true }));

const leftOut: string[] = [];

async function response(sql: string, ...conditions: string[]): Promise<(readonly QueryValue[])[]> {
  leftOut.length = 0;
  const query = { sql, conditions: conditions.map(parseCondition), leftOut: (line: string) => void leftOut.push(line) };
  return queryRuns(store, query, async ({ batches }) => {
    const rows: (readonly QueryValue[])[] = [];
    for await (const some of batches) rows.push(...some);
    return rows;
  });
}

withDuckDb('the views', () => {
  test('runs: one row each, times as instants, tags as a list', async () => {
    expect(await response('SELECT run_id, scenario, start, concurrency, tags FROM runs ORDER BY start')).toEqual([
      ['r1', 'example', '2026-03-04T05:06:07.000Z', 2, ['a', 'b']],
      [VERSION_1, 'stored-example', '2026-11-21T22:23:06.425Z', 2, []],
    ]);
  });

  test('runs: what is a number or a time is one in SQL too', async () => {
    const sql = `SELECT column_name, column_type FROM (DESCRIBE runs) WHERE column_name IN
      ('missing_shards', 'import_position', 'step', 'isl', 'imported_at', 'end') ORDER BY column_name`;
    expect(await response(sql)).toEqual([
      ['end', 'TIMESTAMP'],
      ['import_position', 'BIGINT'],
      ['imported_at', 'TIMESTAMP'],
      ['isl', 'DOUBLE'],
      ['missing_shards', 'BIGINT'],
      ['step', 'BIGINT'],
    ]);
  });

  test('measures: in base units, joined with their run', async () => {
    const sql = `SELECT run_id, value, p99 FROM measures JOIN runs USING (run_id) WHERE measure = 'request_throughput'
      AND scenario = 'example'`;
    expect(await response(sql)).toEqual([['r1', 7.5, null]]);
  });

  test('records of both versions: missing columns are null', async () => {
    const sql = 'SELECT run_id, count(*), count(first_output_ns), max(index) FROM records GROUP BY 1 ORDER BY 1';
    // Of the ten records of the example, 4 and 9 fail and have no content.
    expect(await response(sql)).toEqual([
      [VERSION_1, 14, 0, 13],
      ['r1', 10, 8, 9],
    ]);
    expect(await response('SELECT chunk_offsets_ns FROM records WHERE index = 1', 'run=r1')).toEqual([
      [[20_000_000, 45_000_001, 90_000_000]],
    ]);
  });

  test('server_samples', async () => {
    const [row] = await response(`SELECT run_id, count(*) > 10, bool_and(time_ns > 0) FROM server_samples GROUP BY 1`);
    expect(row).toEqual([VERSION_1, true, true]);
  });

  test('of a store without runs are empty, with their columns', async () => {
    const nothing = ['runs', 'measures', 'records', 'server_samples'].map((view) =>
      response(`SELECT count(run_id) FROM ${view}`, 'run=none'),
    );
    expect(await Promise.all(nothing)).toEqual([[[0]], [[0]], [[0]], [[0]]]);
  });
});

withDuckDb('only reading', () => {
  test.each([
    ['COPY (SELECT 1) TO $file', 'only statements that read'],
    ['EXPLAIN ANALYZE COPY (SELECT 1) TO $file', 'only statements that read'],
    ['SELECT 1; COPY (SELECT 1) TO $file', 'only statements that read'],
    ['SELECT 1; SELECT 2', 'one statement is expected, not 2'],
    ['', 'one statement is expected, not 0'],
    [`SELECT * FROM query('COPY (SELECT 1) TO ''x.csv''')`, 'SELECT'],
    ['ATTACH $file', 'only statements that read'],
    ['CREATE TABLE t (x INTEGER)', 'only statements that read'],
    ['DROP TABLE runs', 'only statements that read'],
    ['EXPORT DATABASE $file', 'only statements that read'],
    ['INSTALL httpfs', 'only statements that read'],
    ['LOAD httpfs', 'only statements that read'],
    ['PRAGMA database_list', 'only statements that read'],
    [`PRAGMA memory_limit='1TB'`, 'only statements that read'],
    ['CALL pragma_version()', 'only statements that read'],
    ['SET VARIABLE a = 1', 'only statements that read'],
    ['CHECKPOINT', 'only statements that read'],
    [`FROM '/etc/hostname'`, 'Catalog Error'],
    [`SELECT * FROM read_csv('/etc/hostname')`, 'Permission Error'],
    [`SELECT * FROM read_blob('/proc/self/environ')`, 'Permission Error'],
    [`SELECT getenv('HOME')`, 'Catalog Error'],
    ['SET enable_external_access = true', 'only statements that read'],
    [`SELECT * FROM read_text('/etc/hostname')`, 'Permission Error'],
    [`SELECT * FROM read_text($directory || '/../../etc/hostname')`, 'Error'],
    [`SELECT * FROM glob('/etc/*')`, 'Permission Error'],
    [`SELECT * FROM read_csv('http://127.0.0.1:9/x')`, 'Permission Error'],
    ['SELEC 1', 'syntax error'],
    ['SELECT no_such_column FROM runs', 'no_such_column'],
  ])('%s is refused', async (statement, message) => {
    const text = (path: string): string => `'${path.replaceAll("'", "''")}'`;
    const sql = statement.replace('$file', text(join(directory, 'x.csv'))).replace('$directory', text(directory));
    const asked = response(sql);
    await expect(asked).rejects.toMatchObject({ code: 'refused' });
    await expect(asked).rejects.toThrow(message);
    expect(await readdir(directory)).not.toContain('x.csv');
  });
});

withDuckDb('damaged files', () => {
  test('are left out and named', async () => {
    const added = (runId: string) => addRun(store, addedRun(runId));
    await added('torn');
    await added('no-json');
    await added('fifo');
    await rm(join(directory, 'fifo', 'records', '0.parquet'));
    execFileSync('mkfifo', [join(directory, 'fifo', 'records', '0.parquet')]);
    await truncate(join(directory, 'torn', 'records', '0.parquet'), 300);
    await writeFile(join(directory, 'no-json', 'run.json'), '{');
    expect(await response(`SELECT DISTINCT run_id FROM records ORDER BY 1`)).toEqual([[VERSION_1], ['r1']]);
    expect(leftOut.toSorted()).toEqual([
      expect.stringMatching(/fifo.*0\.parquet is left out: it is not a regular file$/),
      expect.stringMatching(/torn.*0\.parquet is left out: it is not a Parquet file, or truncated$/),
      expect.stringMatching(/^run no-json is left out: .*it is not JSON$/),
    ]);
    await rm(join(directory, 'torn'), { recursive: true });
    await rm(join(directory, 'fifo'), { recursive: true });
    await rm(join(directory, 'no-json'), { recursive: true });
  });
});
