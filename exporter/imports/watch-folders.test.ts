import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { openStore } from '../store/run-store.ts';
import { importTable } from '../cli/import-table.ts';
import { IMPORTERS } from './importers.ts';
import { watchFolders } from './watch-folders.ts';
import { inTemporaryFolder } from './testing/import-folder.ts';

const FIXTURE = new URL('./aiperf/fixtures/a-steady-c8/', import.meta.url).pathname;
const LINES = gunzipSync(readFileSync(join(FIXTURE, 'profile_export.jsonl.gz')))
  .toString('utf8')
  .split('\n')
  .slice(0, 4);
const SUMMARY = readFileSync(join(FIXTURE, 'profile_export_aiperf.json'), 'utf8');

/**
 * Watches a folder on a clock of its own, one second per look; before each look `changes` has its turn. Returns what was
 * told, by the look after which it was.
 */
async function watched(
  folder: string,
  looks: number,
  changes: (look: number, inside: string) => Promise<void>,
): Promise<(readonly [number, string])[]> {
  const inside = join(folder, 'watched');
  await mkdir(inside, { recursive: true });
  const { store } = await openStore(join(folder, 'runs'));
  const stopping = new AbortController();
  const told: (readonly [number, string])[] = [];
  let look = 0;
  const reports = watchFolders({
    folders: [inside],
    settleSeconds: 2,
    patienceSeconds: 6,
    pollSeconds: 0,
    beforeLook: async () => {
      look += 1;
      if (look > looks) stopping.abort();
      await changes(look, inside);
    },
    now_ms: () => look * 1000,
    store,
    importers: IMPORTERS,
    timeZone: null,
    signal: stopping.signal,
  });
  for await (const report of reports) told.push([look, importTable(report)]);
  return told;
}

test('a folder is imported when it has rested, and once', () =>
  inTemporaryFolder(async (folder) => {
    const told = await watched(folder, 12, async (look, inside) => {
      if (look === 2) await writeFile(join(inside, 'profile_export.jsonl'), `${LINES[0]}\n`);
      if (look === 3) await appendFile(join(inside, 'profile_export.jsonl'), `${LINES[1]}\n`);
      if (look === 4) await writeFile(join(inside, 'profile_export_aiperf.json'), SUMMARY);
    });
    expect(told).toEqual([[6, expect.stringMatching(/^imported .*aiperf/)]]);
  }));

test('records without their summary are waited for, and at last imported alone', () =>
  inTemporaryFolder(async (folder) => {
    const told = await watched(folder, 12, async (look, inside) => {
      if (look === 1) await writeFile(join(inside, 'profile_export.jsonl'), `${LINES.join('\n')}\n`);
    });
    expect(told).toEqual([[7, expect.stringContaining('imported')]]);
  }));

test('a torn file is waited for; what stays torn is told once', () =>
  inTemporaryFolder(async (folder) => {
    const told = await watched(folder, 20, async (look, inside) => {
      if (look === 1) await writeFile(join(inside, 'profile_export_aiperf.json'), SUMMARY.slice(0, 9000));
      if (look === 5) {
        await writeFile(join(folder, 'whole'), SUMMARY);
        await rename(join(folder, 'whole'), join(inside, 'profile_export_aiperf.json'));
      }
      if (look === 9) {
        await mkdir(join(inside, 'other'));
        await writeFile(join(inside, 'other', 'profile_export_aiperf.json'), SUMMARY.slice(0, 8000));
      }
    });
    expect(told).toEqual([
      [7, expect.stringContaining('imported')],
      [15, expect.stringContaining('it is cut off at character 8000')],
    ]);
  }));
