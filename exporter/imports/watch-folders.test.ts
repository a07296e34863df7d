import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { captureText } from '../../fixtures/captures.ts';
import { openStore } from '../store/run-store.ts';
import { importTable } from '../cli/tables/import-table.ts';
import { IMPORTERS } from './importers.ts';
import { watchFolders } from './watch-folders.ts';
import { inTemporaryFolder } from './testing/import-folder.ts';

const FIXTURE = 'dynamo/a-steady-c8/aiperf';
const LINES = captureText(`${FIXTURE}/profile_export.jsonl.gz`).split('\n').slice(0, 4);
const SUMMARY = captureText(`${FIXTURE}/profile_export_aiperf.json`);

/**
 * Watches a folder on a test clock, one second per scan; `changes` runs before each scan. Returns what was reported,
 * by scan.
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
  const reported: (readonly [number, string])[] = [];
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
  for await (const report of reports) reported.push([look, importTable(report)]);
  return reported;
}

test('a folder is imported when it has rested, and once', () =>
  inTemporaryFolder(async (folder) => {
    const reported = await watched(folder, 12, async (look, inside) => {
      if (look === 2) await writeFile(join(inside, 'profile_export.jsonl'), `${LINES[0]}\n`);
      if (look === 3) await appendFile(join(inside, 'profile_export.jsonl'), `${LINES[1]}\n`);
      if (look === 4) await writeFile(join(inside, 'profile_export_aiperf.json'), SUMMARY);
    });
    expect(reported).toEqual([[6, expect.stringMatching(/^imported .*aiperf/)]]);
  }));

test('records without their summary are waited for, and at last imported alone', () =>
  inTemporaryFolder(async (folder) => {
    const reported = await watched(folder, 12, async (look, inside) => {
      if (look === 1) await writeFile(join(inside, 'profile_export.jsonl'), `${LINES.join('\n')}\n`);
    });
    expect(reported).toEqual([[7, expect.stringContaining('imported')]]);
  }));

test('a torn file is waited for; what stays torn is reported once', () =>
  inTemporaryFolder(async (folder) => {
    const reported = await watched(folder, 20, async (look, inside) => {
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
    expect(reported).toEqual([
      [7, expect.stringContaining('imported')],
      [15, expect.stringContaining('it is cut off at character 8000')],
    ]);
  }));
