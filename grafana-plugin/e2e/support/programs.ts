import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { end, freePort, until } from './processes.ts';

const LLMBENCH = fileURLToPath(new URL('../../../bin/llmbench.js', import.meta.url));

/** Real programs and the folder of their files; both are gone after `stop`. */
export interface Programs {
  folder: string;
  /** Starts llmbench with these arguments. */
  llmbench: (...parts: string[]) => ChildProcess;
  /** Starts a Prometheus with this configuration, which may need its address, and returns its URL when it is ready. */
  prometheus: (
    binary: string,
    config: object | ((address: string) => object),
    flags?: readonly string[]
  ) => Promise<string>;
  stop: () => Promise<void>;
}

export function startPrograms(name: string): Programs {
  const folder = mkdtempSync(join(tmpdir(), `llmbench-${name}-`));
  const processes: ChildProcess[] = [];
  return {
    folder,
    llmbench(...parts) {
      const started = spawn(process.execPath, [LLMBENCH, ...parts], { stdio: ['ignore', 'pipe', 'pipe'] });
      // A pipe that nothing reads would hold the process up.
      started.stderr.resume();
      processes.push(started);
      return started;
    },
    async prometheus(binary, config, flags = []) {
      const own = mkdtempSync(join(folder, 'prometheus-'));
      const address = `127.0.0.1:${await freePort()}`;
      const file = join(own, 'prometheus.yml');
      writeFileSync(file, JSON.stringify(typeof config === 'function' ? config(address) : config));
      const storage = `--storage.tsdb.path=${join(own, 'data')}`;
      processes.push(
        spawn(binary, [`--config.file=${file}`, storage, `--web.listen-address=${address}`, ...flags], {
          stdio: 'ignore',
        })
      );
      await until(async () => (await fetch(`http://${address}/-/ready`)).ok);
      return `http://${address}`;
    },
    async stop() {
      await Promise.all(processes.map((process) => (process.exitCode === null ? end(process) : undefined)));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The first line that a process prints, such as the ready line of `llmbench simulate --json`. */
export function firstLine(process: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    process.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) {
        resolve(text.split('\n')[0] ?? '');
      }
    });
    process.once('exit', (code) => reject(new Error(`llmbench ended with ${code} before its first line`)));
  });
}

/** The exit code of llmbench if runs have regressed or miss an objective. */
export const GATE_FAILED = 99;

/** Waits for the end of a process; throws what it said last unless it ends with the expected code. */
export function ended(process: ChildProcess, expected = 0): Promise<void> {
  process.stdout?.resume();
  let said = '';
  process.stderr?.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-1000)));
  return new Promise((resolve, reject) =>
    process.once('exit', (code) =>
      code === expected ? resolve() : reject(new Error(`llmbench ended with ${code}: ${said}`))
    )
  );
}
