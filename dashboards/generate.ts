import { writeFile } from 'node:fs/promises';
import { DASHBOARDS } from './src/dashboards.ts';

for (const [file, json] of DASHBOARDS) await writeFile(new URL(file, import.meta.url), json());
