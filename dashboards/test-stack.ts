import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderPrometheusConfig } from '../prometheus/config.ts';
import { startPrometheus } from '../prometheus/server.ts';
import type { PrometheusPrograms } from '../scripts/prometheus.mjs';
import { startSource, type FinishedRun } from './test-source.ts';

const RULES = fileURLToPath(new URL('../prometheus/rules/*.yml', import.meta.url));

/** A real Prometheus that has scraped one whole run and the server that it measured. */
export interface Stack {
  readonly prometheusUrl: string;
  readonly run: FinishedRun;
  stop(): Promise<void>;
}

/** Starts source and Prometheus with the project's configuration, runs one benchmark, and keeps both up. */
export async function startStack(programs: PrometheusPrograms): Promise<Stack> {
  const started: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    for (const part of started.splice(0).reverse()) await part.stop();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'llmbench-dashboards-'));
    started.push({ stop: () => rm(folder, { recursive: true, force: true }) });
    const source = await startSource();
    started.push(source);
    const configFile = join(folder, 'prometheus.yml');
    const { exporterAddress } = source;
    await writeFile(configFile, renderPrometheusConfig({ exporterAddress, rulesGlob: RULES }));
    const prometheus = await startPrometheus({ programs, configFile, dataFolder: join(folder, 'data') });
    started.push(prometheus);
    return { prometheusUrl: prometheus.url, run: await source.run(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
