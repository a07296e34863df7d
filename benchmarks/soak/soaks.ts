import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { startProgram, lastJsonLine, numberOf } from '../child-program.ts';
import { copyRun, writeFinishedRuns } from '../finished-runs.ts';
import { BURST_512, pacedUrl, startPacedServer } from '../paced-server.ts';
import { watchCommand, type Reading, type WatchedCommand } from '../watched-command.ts';
import type { Workshop } from '../workshop.ts';

const BUSY_PAGES = fileURLToPath(new URL('busy-pages-program.ts', import.meta.url));
const RUNS = 1000;
const TARGETS = 20;
const SCRAPE_EVERY_MS = 1000;
const NEW_RUN_EVERY_MS = 60_000;

export interface SoakPlan {
  readonly workshop: Workshop;
  readonly seconds: number;
  /** Of each stream of `run`. */
  readonly chunksPerSecond: number;
}

/** Watches one command for the time of the plan; `read` receives its readings. Rejects when the command fails. */
export type Soak = (plan: SoakPlan, read: (reading: Reading) => void) => Promise<void>;

export const SOAKS: Readonly<Record<string, { readonly what: string; readonly soak: Soak }>> = {
  run: { what: `llmbench run with ${BURST_512.streams} streams`, soak: soakRun },
  serve: { what: `llmbench serve of ${RUNS} runs, scraped every second, with a new run every minute`, soak: soakServe },
  collect: { what: `llmbench collect of ${TARGETS} busy servers every second`, soak: soakCollect },
};

async function soakRun(
  { workshop, seconds, chunksPerSecond }: SoakPlan,
  read: (reading: Reading) => void,
): Promise<void> {
  const server = await startPacedServer(workshop);
  try {
    const load = { ...BURST_512, tick_us: Math.round(1e6 / chunksPerSecond) };
    const command = watchCommand(
      [
        ...['run', '--json', '--url', pacedUrl(server.port, load), '--model', 'm'],
        ...['--concurrency', String(load.streams), '--benchmark-duration', String(seconds)],
        ...['--isl', '40', '--osl', String(load.tokens), '--metrics-port', '0'],
        ...['--runs-dir', await mkdtemp(join(workshop.folder, 'soak-run-'))],
      ],
      (reading) => {
        // What comes after the duration is the run's end, not the run.
        if (reading.seconds <= seconds) read(reading);
      },
    );
    await command.ended;
  } finally {
    await server.stop();
  }
}

async function soakServe({ workshop, seconds }: SoakPlan, read: (reading: Reading) => void): Promise<void> {
  const folder = await mkdtemp(join(workshop.folder, 'soak-serve-'));
  await writeFinishedRuns(folder, RUNS);
  const command = watchCommand(
    ['serve', '--runs-dir', folder, '--port', '0', '--max-runs', String(RUNS), '--json'],
    read,
    // As the compose stack and the Helm chart start it.
    ['--max-semi-space-size=16'],
  );
  const { url } = JSON.parse(await command.firstLine) as { url: string };
  const end_ms = performance.now() + seconds * 1000;
  let runs = RUNS;
  await whileRunning(command, end_ms, async (round) => {
    await scrape(`${url}/metrics`);
    if (round % (NEW_RUN_EVERY_MS / SCRAPE_EVERY_MS) === 0) await copyRun(folder, runs++);
  });
  command.stop();
  await command.ended;
}

/** Repeats `work` every second until the time, or until the command ends. */
async function whileRunning(
  command: WatchedCommand,
  end_ms: number,
  work: (round: number) => Promise<void>,
): Promise<void> {
  for (let round = 1; performance.now() < end_ms; round++) {
    const next_ms = performance.now() + SCRAPE_EVERY_MS;
    await work(round);
    await Promise.race([sleep(Math.max(0, next_ms - performance.now())), command.ended]);
  }
}

/** As Prometheus does. */
async function scrape(url: string): Promise<void> {
  const { statusCode, body } = await request(url, { headers: { 'accept-encoding': 'gzip' } });
  await body.dump({ limit: Infinity });
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
}

async function soakCollect({ workshop, seconds }: SoakPlan, read: (reading: Reading) => void): Promise<void> {
  const page = join(await workshop.expositionPages(), 'vllm.1.txt');
  const pages = startProgram(process.execPath, [BUSY_PAGES, page], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    if (pages.stdout === null) throw new Error('the server of the pages has no output');
    const { stdout } = pages;
    const line = await new Promise<string>((resolve) => createInterface({ input: stdout }).once('line', resolve));
    const port = numberOf(lastJsonLine(line), 'port');
    const targets = Array.from({ length: TARGETS }, (_, i) => `http://127.0.0.1:${port}/${i}/metrics`);
    const command = watchCommand(
      [
        ...['collect', '--server-metrics', ...targets, '--interval', String(SCRAPE_EVERY_MS / 1000)],
        ...['--duration', String(seconds), '--out', await mkdtemp(join(workshop.folder, 'soak-collect-')), '--json'],
      ],
      (reading) => {
        if (reading.seconds <= seconds) read(reading);
      },
    );
    await command.ended;
  } finally {
    pages.kill();
  }
}
