import { writeFile } from 'node:fs/promises';
import { renderPrometheusConfig } from './config.ts';

await writeFile(new URL('prometheus.yml', import.meta.url), renderPrometheusConfig());
