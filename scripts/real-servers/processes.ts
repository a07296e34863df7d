import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync, readFileSync, mkdirSync, existsSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';

const executeFile = promisify(execFile);
const STDERR_SHOWN = 600;
const LOG_LINES_SHOWN = 15;
const STOP_SECONDS = 20;

type Environment = Readonly<Record<string, string>>;

/** Runs a program to its end and returns what it printed. Throws, with the end of its stderr, when it fails. */
export async function execute(command: string, args: readonly string[], env: Environment = {}): Promise<string> {
  try {
    const { stdout } = await executeFile(command, args, { env: { ...process.env, ...env }, maxBuffer: 2 ** 24 });
    return stdout;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new Error(`${command}: ${stderr?.trim().slice(-STDERR_SHOWN) || message}`, { cause: error });
  }
}

/** The processes of one server. Each leads a process group of its own, so that its children end with it. */
export class Processes {
  readonly #logs: string;
  readonly #children = new Map<string, ChildProcess>();
  #stopping = false;
  readonly #ended = Promise.withResolvers<string>();

  /** `logs` is the folder for the logs, one file per process. */
  constructor(logs: string) {
    this.#logs = logs;
    // A process group outlives its parent: end it also when this process fails.
    process.once('exit', () => this.#signal('SIGKILL'));
  }

  /** Resolves when a process has ended by itself: which one, and the end of its log. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  start(name: string, command: string, args: readonly string[], env: Environment = {}): void {
    const path = join(this.#logs, `${name}.log`);
    const log = openSync(path, 'w');
    const child = spawn(command, args, {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...env },
      detached: true,
    });
    closeSync(log);
    this.#children.set(name, child);
    const end = (how: string): void => {
      const tail = readFileSync(path, 'utf8').trimEnd().split('\n').slice(-LOG_LINES_SHOWN).join('\n');
      if (!this.#stopping) this.#ended.resolve(`${name} ended with ${how}, log in ${path}:\n${tail}`);
    };
    child.once('error', (error) => end(error.message));
    child.once('exit', (code, signal) => end(signal ?? `code ${code}`));
  }

  /** Waits until `isReady`. Throws when a process ends before, or after `seconds`; then all processes are stopped. */
  async ready(isReady: () => Promise<boolean>, seconds: number): Promise<void> {
    const until = Date.now() + seconds * 1000;
    let failure: string | null = null;
    void this.ended.then((reason) => (failure = reason));
    while (!(await isReady().catch(() => false))) {
      if (failure === null && Date.now() > until) failure = `not ready after ${seconds} s, logs in ${this.#logs}`;
      if (failure !== null) {
        await this.stop();
        throw new Error(failure);
      }
      await sleep(250);
    }
  }

  /** Ends all processes with SIGTERM, after 20 s with SIGKILL. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const alive = [...this.#children.values()].filter((child) => child.exitCode === null && child.signalCode === null);
    const ends = alive.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    for (const child of alive) child.kill('SIGTERM');
    const timeout = new AbortController();
    await Promise.race([
      Promise.all(ends),
      // It rejects only when it is aborted below, after the race.
      sleep(STOP_SECONDS * 1000, null, { signal: timeout.signal }).catch(() => null),
    ]);
    timeout.abort();
    this.#signal('SIGKILL');
    await Promise.all(ends);
    this.#children.clear();
  }

  #signal(signal: NodeJS.Signals): void {
    for (const { pid } of this.#children.values()) {
      if (pid === undefined) continue;
      try {
        process.kill(-pid, signal);
      } catch {
        // The whole group has ended.
      }
    }
  }
}

/** A loopback port that nothing listens on: any, or `wanted`. Throws when that one is taken. */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Whether a URL answers 200 and, when given, with this text in its body. */
export async function responses(url: string, text = ''): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
  return response.ok && (await response.text()).includes(text);
}

const CACHE = fileURLToPath(new URL('../../.cache/real-servers', import.meta.url));

/** The folder into which a program is installed: in `parent`, or in the repository's `.cache` without one. */
export function installFolder(name: string, parent: string | undefined): string {
  const folder = join(parent === undefined ? CACHE : resolve(parent), name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** A range of Python versions, both ends included: [3, 10] is 3.10. */
export interface PythonRange {
  readonly from: readonly [major: number, minor: number];
  readonly to: readonly [major: number, minor: number];
}

/** A Python virtual environment in a folder. */
export class PythonEnvironment {
  readonly folder: string;
  readonly python: string;
  readonly #stamp: string;

  constructor(folder: string) {
    this.folder = folder;
    this.python = join(folder, 'bin/python');
    this.#stamp = join(folder, 'installed');
  }

  /** Path of a program that a package installed. */
  program(name: string): string {
    return join(this.folder, 'bin', name);
  }

  /**
   * Makes the environment anew with `fill`, unless the last one was completed for the same `versions`. Throws when no
   * Python in the range is found.
   */
  async ensure(versions: string, range: PythonRange, fill: () => Promise<void>): Promise<void> {
    if (existsSync(this.#stamp) && readFileSync(this.#stamp, 'utf8') === versions) return;
    const python = await findPython(range);
    await execute(python, ['-m', 'venv', '--clear', this.folder]);
    await fill();
    writeFileSync(this.#stamp, versions);
  }

  /** Installs packages: requirements and options of `pip install`. */
  async install(...args: readonly string[]): Promise<void> {
    await execute(this.python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...args]);
  }
}

/** The first interpreter in the range, by the usual names. */
async function findPython({ from, to }: PythonRange): Promise<string> {
  const minors = Array.from({ length: to[1] - from[1] + 1 }, (_, i) => to[1] - i);
  const inRange = `import sys; sys.exit(not (${tuple(from)} <= sys.version_info[:2] <= ${tuple(to)}))`;
  for (const name of ['python3', ...minors.map((minor) => `python${to[0]}.${minor}`)]) {
    const fits = await execute(name, ['-c', inRange]).then(
      () => true,
      () => false,
    );
    if (fits) return name;
  }
  throw new Error(`no Python ${from.join('.')} to ${to.join('.')} on the PATH: install one`);
}

const tuple = (version: readonly number[]): string => `(${version.join(', ')})`;
