import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRunId } from '../core/run/run-id.ts';

const EXAMPLE = fileURLToPath(
  new URL('../exporter/store/migrations/fixtures/version-1/20261121T222600Z-version1ab', import.meta.url),
);
/** As many measures as a run has. */
const MEASURES = 36;
const FILES_AT_ONCE = 64;
const MS_PER_HOUR = 3_600_000;

/**
 * Makes a runs directory of so many runs, one an hour, as a run and its result are written (36 measures, 45 KB), without
 * records: neither a list nor a history reads them.
 */
export async function makeStoredRuns(directory: string, count: number): Promise<void> {
  const run = JSON.parse(await readFile(join(EXAMPLE, 'run.json'), 'utf8')) as object;
  const result = JSON.parse(await readFile(join(EXAMPLE, 'result.json'), 'utf8')) as { measures: object[] };
  const others = Array.from({ length: MEASURES - 1 }, (_, i) => ({ ...result.measures[0], measure: `measure_${i}` }));
  const measures = [...result.measures.slice(0, 1), ...others];
  const write = async (i: number): Promise<void> => {
    const start = new Date(Date.UTC(2025, 0, 1) + i * MS_PER_HOUR);
    const run_id = createRunId(start);
    const folder = join(directory, run_id);
    await mkdir(folder, { recursive: true });
    const scenario = `scenario-${i % 10}`;
    const text = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
    await writeFile(join(folder, 'run.json'), text({ ...run, run_id, scenario, start: start.toISOString() }));
    await writeFile(join(folder, 'result.json'), text({ ...result, run_id, scenario, measures }));
  };
  for (let i = 0; i < count; i += FILES_AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(FILES_AT_ONCE, count - i) }, (_, j) => write(i + j)));
  }
}
