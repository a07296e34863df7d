import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { shellCommand } from '../core/text/words.ts';
import { screenOf } from '../exporter/cli/testing/screen.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));

/** A llmbench process at a terminal. */
export interface AtTerminal {
  /** What a person types; `\x03` is Ctrl-C. */
  readonly type: (keys: string) => void;
  /** Resolves when this text has been written so often. */
  readonly shown: (text: string, times?: number) => Promise<void>;
  readonly ended: Promise<{ readonly code: number | null; readonly written: string; readonly screen: string[] }>;
}

/** Whether `script` is that of util-linux. */
export const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status === 0;

/** Starts llmbench at a pseudo-terminal of so many columns, by `script` of util-linux. */
export function atTerminal(
  args: readonly string[],
  columns: number,
  environment: Readonly<Record<string, string>> = {},
): AtTerminal {
  const command = `stty cols ${columns} rows 40; exec ${shellCommand([process.execPath, LAUNCHER, ...args])}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: {
      ...process.env,
      NO_COLOR: undefined,
      FORCE_COLOR: undefined,
      TERM: 'xterm-256color',
      LC_ALL: 'C.UTF-8',
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let written = '';
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    written += piece;
    for (const check of [...waiting]) check();
  });
  const ended = new Promise<Awaited<AtTerminal['ended']>>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, written, screen: screenOf(written, columns) }));
  });
  const shown = (text: string, times = 1): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (written.split(text).length <= times) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
      void ended.then(() => reject(new Error(`ended without '${text}': ${written}`)), reject);
    });
  return { type: (keys) => void child.stdin.write(keys), shown, ended };
}
