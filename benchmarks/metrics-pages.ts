import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastJsonLine, numberOf, startProgram } from './child-program.ts';
import type { Workshop } from './workshop.ts';

const PROGRAM = fileURLToPath(new URL('pages-program.ts', import.meta.url));
/** Bytes of a page, as a busy engine's. */
export const PAGE_BYTES = 150_000;

/** Metrics pages of many targets, in a process of their own. */
export interface MetricsPages {
  /** Addresses of that many targets. */
  urls(targets: number): string[];
  stop(): Promise<void>;
}

/** Serves two scrapes of SGLang's families, cut to `PAGE_BYTES`, in turn: no value is as it was before. */
export async function startMetricsPages(workshop: Workshop): Promise<MetricsPages> {
  const folder = await workshop.expositionPages();
  const scrapes = await Promise.all([1, 2].map((k) => readFile(join(folder, `sglang.${k}.txt`), 'utf8')));
  // The same lines in both: only values differ.
  const lines = (scrapes[0] ?? '').slice(0, PAGE_BYTES).split('\n').length - 1;
  const paths = await Promise.all(
    scrapes.map(async (scrape, i) => {
      const path = join(folder, `collector.${i}.txt`);
      await writeFile(path, `${scrape.split('\n').slice(0, lines).join('\n')}\n`);
      return path;
    }),
  );
  const child = startProgram(process.execPath, [PROGRAM, ...paths], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  const { stdout } = child;
  if (stdout === null) throw new Error('the server of the pages has no stdout');
  const first = await Promise.race([
    new Promise<string>((resolve) => createInterface({ input: stdout }).once('line', resolve)),
    ended.then(() => Promise.reject(new Error('the server of the pages ended'))),
  ]);
  const port = numberOf(lastJsonLine(first), 'port');
  return {
    urls: (targets) => Array.from({ length: targets }, (_, i) => `http://127.0.0.1:${port}/${i}/metrics`),
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}
