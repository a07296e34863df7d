import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execute } from './processes.ts';

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
