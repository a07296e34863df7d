import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
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

function floor(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}
