/** Copies dashboards, rules and alerts into the chart: `node scripts/kubernetes/generate.ts`. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CHART_FILES, chartFiles } from './chart-files.ts';

const files = await chartFiles();
await rm(CHART_FILES, { recursive: true, force: true });
for (const [path, text] of files) {
  await mkdir(dirname(join(CHART_FILES, path)), { recursive: true });
  await writeFile(join(CHART_FILES, path), text);
}
