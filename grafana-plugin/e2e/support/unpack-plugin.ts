import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unzipSync } from 'fflate';
import { pluginArchive } from '../../../scripts/release/plugin-archive.ts';

export interface UnpackedPlugin {
  folder: string;
  remove: () => void;
}

/** Packs `dist/` as a release does, and unpacks it as a user does in Grafana's plugins directory. */
export function unpackPlugin(): UnpackedPlugin {
  const folder = mkdtempSync(join(tmpdir(), 'llmbench-plugins-'));
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const { file } = pluginArchive({ root, folder, date: new Date() });
  for (const [path, bytes] of Object.entries(unzipSync(readFileSync(file)))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  return {
    folder: join(folder, 'llmbench-observability-app'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
