/**
 * Records the metrics pages of a real server before, during and after a load. The file is text, packed with Brotli: each
 * page follows a line `# scrape <unix seconds>`; a page that could not be read is `# scrape_failed <unix seconds> <reason>`.
 * With several pages (dynamo) the names of the others are the file's with a number.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, constants } from 'node:zlib';
import { namedArguments, readScriptOptions, wholeNumber } from '../script-options.ts';
import { installFolder, freePort } from './processes.ts';
import type { RealServer, RunningServer } from './real-server.ts';
import { realServer, SERVER_LIST } from './servers.ts';

const LLMBENCH = fileURLToPath(new URL('../../bin/llmbench.js', import.meta.url));
const INTERVAL_MS = 1000;
const SCRAPE_TIMEOUT_MS = 5000;

const USAGE = `usage: node scripts/real-servers/record.ts [options] SERVER FILE

Starts SERVER, reads its metrics pages once a second while llmbench sends requests, and writes them to FILE (Brotli).

${SERVER_LIST}

  --restart       after the load stop the server, start it again and send the same load again
  --requests N    requests per load (default 60)
  --quiet N       seconds before and after each load (default 3); a server inside Ray requires 12
  --folder DIR    where servers are installed (default .cache/real-servers)
`;

const { server, file, restart, requests, quietSeconds, folder } = options();
const installed = installFolder(server.name, folder);
await server.install(installed);
const recordings: string[] = [];
let pages: readonly string[] = [];
let recording = true;
try {
  const scraping = scrapeUntilEnd();
  for (let start = 0; start < (restart ? 2 : 1); start++) {
    const running = await server.start({ folder: installed, port: await freePort(), args: [] });
    pages = running.metrics;
    await sleep(quietSeconds * 1000);
    await load(running);
    await sleep(quietSeconds * 1000);
    await running.stop();
    if (restart && start === 0) await sleep(quietSeconds * 1000);
  }
  recording = false;
  await scraping;
  for (const [i, text] of recordings.entries()) {
    writeFileSync(i === 0 ? file : file.replace(/(\.[^/]*)?$/, `-${i + 1}$1`), packed(text));
  }
} catch (error) {
  process.stderr.write(`${server.name}: ${(error as Error).message}\n`);
  process.exit(1);
}

/** Appends each page to its recording, once per interval. */
async function scrapeUntilEnd(): Promise<void> {
  while (recording) {
    const next = sleep(INTERVAL_MS);
    await Promise.all(
      pages.map(async (url, i) => {
        recordings[i] = `${recordings[i] ?? ''}${await scrape(url)}`;
      }),
    );
    await next;
  }
}

async function scrape(url: string): Promise<string> {
  const at = (Date.now() / 1000).toFixed(3);
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(SCRAPE_TIMEOUT_MS) });
    if (!response.ok) return `# scrape_failed ${at} HTTP ${response.status}\n`;
    return `# scrape ${at}\n${await response.text()}`;
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } };
    return `# scrape_failed ${at} ${cause?.code ?? message}\n`;
  }
}

/** Sends the requests and prints what the client counted. */
async function load({ url, model }: RunningServer): Promise<void> {
  const runs = mkdtempSync(join(tmpdir(), 'llmbench-record-'));
  const args = ['run', '--url', url, '--model', model, ...server.runArgs, '--no-server-metrics', '--runs-dir', runs];
  const shape = ['--concurrency', '4', '--request-count', String(requests), '--isl', '64', '--osl', '16'];
  const run = spawn(process.execPath, [LLMBENCH, ...args, ...shape], { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(run, 'close')) as [number | null];
  rmSync(runs, { recursive: true });
  if (code !== 0) throw new Error(`llmbench run ended with code ${code}`);
}

/** A window as large as the format allows, because each page repeats the one before. */
function packed(text: string): Buffer {
  return brotliCompressSync(text, {
    params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
  });
}

function options(): {
  server: RealServer;
  file: string;
  restart: boolean;
  requests: number;
  quietSeconds: number;
  folder: string | undefined;
} {
  const known = {
    restart: { type: 'boolean', default: false },
    requests: { type: 'string', default: '60' },
    quiet: { type: 'string', default: '3' },
    folder: { type: 'string' },
  } as const;
  return readScriptOptions({ usage: USAGE, options: known }, ({ requests, quiet, ...values }, positionals) => {
    const { SERVER, FILE } = namedArguments(positionals, ['SERVER', 'FILE']);
    return {
      server: realServer(SERVER),
      file: FILE,
      restart: values.restart,
      requests: wholeNumber('requests', requests, { min: 1 }),
      quietSeconds: wholeNumber('quiet', quiet, { min: 1 }),
      folder: values.folder,
    };
  });
}
