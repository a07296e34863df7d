import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { APP_FOLDER, DASHBOARDS, NATIVE_FOLDER } from './src/dashboards.ts';

/** Where the generated files are: for any Grafana, for native histograms, and for a Grafana that has the app. */
const FOLDERS = ['./', NATIVE_FOLDER, APP_FOLDER];

const files = new Set(DASHBOARDS.map(([file]) => file));
for (const folder of FOLDERS) {
  const path = new URL(folder, import.meta.url);
  await mkdir(path, { recursive: true });
  const present = (await readdir(path)).filter((file) => file.endsWith('.json'));
  const stale = present.filter((file) => !files.has(`${folder}${file}`.replace(/^\.\//, '')));
  for (const file of stale) await rm(new URL(file, path));
}
for (const [file, json] of DASHBOARDS) await writeFile(new URL(file, import.meta.url), json());
