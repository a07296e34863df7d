import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { exposition, TOTAL_SECONDS } from './observations.ts';
import { listen, until } from './processes.ts';
import { startPrograms } from './programs.ts';

export interface TestData {
  prometheusUrl: string;
  /** The time range that holds the runs, in milliseconds since 1970. */
  fromMs: number;
  toMs: number;
  stop: () => Promise<void>;
}

/** Path of the Prometheus binary: PROMETHEUS, the project's cache, or the search path; null when there is none. */
export function findPrometheus(): string | null {
  const cached = fileURLToPath(new URL('../../../.cache/prometheus/usr/bin/prometheus', import.meta.url));
  const given = process.env['PROMETHEUS'];
  const onPath = (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, 'prometheus'));
  return [...(given ? [given] : []), cached, ...onPath].find((file) => existsSync(file)) ?? null;
}

/** Starts a real Prometheus that scrapes the test exporter every second, and returns when both runs are over. */
export async function startData(prometheus: string): Promise<TestData> {
  // The clock of the runs starts with the first scrape: Prometheus takes some seconds until then.
  let startedMs: number | null = null;
  let finalScrapes = 0;
  const exporter = createServer((_, response) => {
    startedMs ??= Date.now();
    const seconds = (Date.now() - startedMs) / 1000;
    finalScrapes += seconds > TOTAL_SECONDS ? 1 : 0;
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' });
    response.end(exposition(seconds));
  });
  const exporterPort = await listen(exporter);
  const programs = startPrograms('plugin');
  const stop = async () => {
    await programs.stop();
    exporter.closeAllConnections();
    exporter.close();
  };
  try {
    const prometheusUrl = await programs.prometheus(prometheus, {
      global: { scrape_interval: '1s' },
      scrape_configs: [{ job_name: 'llmbench', static_configs: [{ targets: [`127.0.0.1:${exporterPort}`] }] }],
    });
    await until(async () => startedMs !== null);
    await sleep(TOTAL_SECONDS * 1000);
    // The final counts are there twice: Prometheus has stored two scrapes when it begins the third.
    await until(async () => finalScrapes > 2);
    return { prometheusUrl, fromMs: floor(startedMs ?? 0), toMs: floor(Date.now()), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Prints why the browser tests cannot run, or null when they can. */
export function missingTool(prometheus: string | null, chromium: string): string | null {
  if (prometheus === null) {
    return 'no prometheus binary: install it or set PROMETHEUS';
  }
  try {
    execFileSync(chromium, ['--version'], { stdio: 'ignore' });
    return null;
  } catch {
    return `no browser at ${chromium}: install Chromium or set CHROMIUM`;
  }
}

function floor(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}
