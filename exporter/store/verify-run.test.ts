import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { addRun } from './changes/add-run.ts';
import { editRun } from './changes/edit-run.ts';
import { addedRun } from './fixtures/added-run.ts';
import { openStore } from './run-store.ts';
import { textSha256 } from './sealed/checksums.ts';
import type { RunStore } from './run-store.ts';
import { changedSinceSealed, verifyRun } from './verify-run.ts';

let directory: string;
let store: RunStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-verify-'));
  ({ store } = await openStore(directory));
  await addRun(store, addedRun('r1'));
});

afterEach(() => rm(directory, { recursive: true }));

const inRun = (name: string): string => join(directory, 'r1', name);

/** The output of GNU coreutils; null if not installed. */
async function sha256sum(): Promise<string | null> {
  try {
    return (await promisify(execFile)('sha256sum', ['-c', 'checksums.sha256'], { cwd: inRun('') })).stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    return (error as { stdout: string }).stdout;
  }
}

test('an unchanged run is valid, also with later tags and a report', async () => {
  expect(await verifyRun(store, 'r1')).toEqual({ run_id: 'r1', state: 'ok', files: 3, problems: [] });
  await editRun(store, 'r1', (run) => ({ ...run, tags: ['x'] }));
  await writeFile(inRun('report.html'), 'made later');
  expect(await verifyRun(store, 'r1')).toMatchObject({ state: 'ok' });
  const said = await sha256sum();
  if (said !== null) expect(said).toBe('records/0.parquet: OK\nresult.json: OK\nrun.json: OK\n');
});

test('one changed byte and a missing file are found', async () => {
  const records = await readFile(inRun('records/0.parquet'));
  records[100] = (records[100] ?? 0) ^ 1;
  await writeFile(inRun('records/0.parquet'), records);
  await rm(inRun('result.json'));
  const { state, problems } = await verifyRun(store, 'r1');
  expect(state).toBe('damaged');
  expect(problems).toContain('records/0.parquet differs from its checksum');
  expect(problems).toContain('result.json is missing');
  const said = await sha256sum();
  if (said !== null) expect(said).toContain('records/0.parquet: FAILED');
});

test.each(['run.json', 'result.json'])('a run whose %s is of a newer version is not damaged', async (name) => {
  const later = (await readFile(inRun(name), 'utf8')).replace(/"schema_version": \d+/, '"schema_version": 99');
  await writeFile(inRun(name), later);
  const sums = await readFile(inRun('checksums.sha256'), 'utf8');
  await writeFile(
    inRun('checksums.sha256'),
    sums.replace(new RegExp(`^.*  ${name}$`, 'm'), `${textSha256(later)}  ${name}`),
  );
  const { state, problems } = await verifyRun(store, 'r1');
  expect(problems).toEqual([expect.stringMatching(/schema version 99; .*use a newer llmbench/)]);
  expect(state).toBe('newer');
  await writeFile(inRun(name), `${later} `);
  expect((await verifyRun(store, 'r1')).state).toBe('damaged');
});

test('each problem is reported once', async () => {
  await writeFile(inRun('result.json'), '{');
  const { problems } = await verifyRun(store, 'r1');
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/result\.json.*not JSON/);
  await rm(inRun('result.json'));
  expect((await verifyRun(store, 'r1')).problems).toEqual(['result.json is missing']);
});

test('a run without checksums is verified as far as possible', async () => {
  const old = '20261121T222600Z-version1ab';
  const fixture = fileURLToPath(new URL(`./migrations/fixtures/version-1/${old}`, import.meta.url));
  await cp(fixture, join(directory, old), { recursive: true });
  expect(await verifyRun(store, old)).toMatchObject({ state: 'unsealed', files: 0 });
  await writeFile(join(directory, old, 'result.json'), '');
  expect(await verifyRun(store, old)).toMatchObject({
    state: 'damaged',
    problems: [expect.stringContaining('it is not JSON')],
  });
});

test('a FIFO instead of a file is named, without waiting for a writer', async () => {
  for (const [name, problem] of [
    ['records/0.parquet', 'records/0.parquet cannot be read: it is not a regular file'],
    ['checksums.sha256', 'the checksums cannot be read: it is not a regular file'],
  ] as const) {
    await rm(inRun(name));
    execFileSync('mkfifo', [inRun(name)]);
    expect((await verifyRun(store, 'r1')).problems).toEqual([problem]);
  }
});

test.each(['result.json', 'run.json'])('%s that was changed by hand is no basis of a decision', async (file) => {
  expect(await changedSinceSealed(inRun(''))).toBeNull();
  const text = await readFile(inRun(file), 'utf8');
  await writeFile(inRun(file), text.replace('}', ' }'));
  expect(await changedSinceSealed(inRun(''))).toMatch(
    new RegExp(`^its ${file} differs from its checksum; .*runs verify`),
  );
  // Stored without checksums: nothing says that it changed.
  await rm(inRun('checksums.sha256'));
  expect(await changedSinceSealed(inRun(''))).toBeNull();
});

test('a run whose tags are being changed is as it was sealed', async () => {
  const seen = await Promise.all([
    ...Array.from({ length: 20 }, (_, i) => editRun(store, 'r1', (run) => ({ ...run, tags: [`t${i}`] }))),
    ...Array.from({ length: 20 }, () => changedSinceSealed(inRun(''))),
  ]);
  expect(seen.filter((each) => typeof each === 'string')).toEqual([]);
});
