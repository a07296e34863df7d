import { mkdtemp, readFile } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PythonEnvironment } from '../scripts/real-servers/python-environment.ts';
import { runProgram } from './child-program.ts';
import { writeExpositionPages } from './exposition-pages.ts';

const PEERS = fileURLToPath(new URL('peers', import.meta.url));
const CACHE = fileURLToPath(new URL('../.cache/benchmarks', import.meta.url));
const BUILD_TIMEOUT_SECONDS = 300;

/** Something this machine does not have: the message says what, and what would help. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** The path of a peer's program that needs no build. */
export function peer(name: string): string {
  return join(PEERS, name);
}

/**
 * A temporary folder in which the peers' programs are built, each when it is first used. It is removed when the process
 * ends. Methods reject with `Unavailable` when a compiler or a package is missing.
 */
export class Workshop {
  readonly folder: string;
  readonly #made = new Map<string, Promise<string>>();

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(): Promise<Workshop> {
    const folder = await mkdtemp(join(tmpdir(), 'llmbench-bench-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    return new Workshop(folder);
  }

  /** A C program, compiled. */
  compiledC(name: string): Promise<string> {
    return this.#once(name, async () => {
      const binary = join(this.folder, basename(name, '.c'));
      await build('cc', ['-O2', '-o', binary, peer(name)], this.folder);
      return binary;
    });
  }

  /** The Go module in a folder, built. */
  compiledGo(name: string): Promise<string> {
    return this.#once(name, async () => {
      const binary = join(this.folder, name);
      await build('go', ['build', '-o', binary, '.'], peer(name));
      return binary;
    });
  }

  /** A Python with these packages, by default those of `peers/requirements.txt`; kept in the repository's cache. */
  python(packages?: readonly string[]): Promise<string> {
    const name = packages === undefined ? 'python' : `python-${packages.join('-').replaceAll(/[^\w.-]/g, '')}`;
    return this.#once(name, async () => {
      const requirements = packages ?? (await readFile(peer('requirements.txt'), 'utf8')).split('\n').filter(Boolean);
      const environment = new PythonEnvironment(join(CACHE, name));
      try {
        await environment.ensure(requirements.join('\n'), { from: [3, 10], to: [3, 14] }, () =>
          environment.install('--timeout', '15', '--retries', '1', ...requirements),
        );
      } catch (error) {
        throw new Unavailable((error as Error).message, { cause: error });
      }
      return environment.python;
    });
  }

  /** Pages of `/metrics` made from the catalog: the folder that holds <page>.1.txt and <page>.2.txt. */
  expositionPages(): Promise<string> {
    return this.#once('pages', async () => {
      const pages = join(this.folder, 'pages');
      await writeExpositionPages(pages);
      return pages;
    });
  }

  /** Made once, also when that fails: what is not available is not tried again in each round. */
  #once(key: string, make: () => Promise<string>): Promise<string> {
    const made = this.#made.get(key) ?? make();
    this.#made.set(key, made);
    return made;
  }
}

async function build(command: string, args: readonly string[], cwd: string): Promise<void> {
  try {
    await runProgram(command, args, { cwd, timeoutSeconds: BUILD_TIMEOUT_SECONDS });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Unavailable(`no ${command} on this machine`);
    throw new Unavailable(`cannot be built here: ${(error as Error).message}`, { cause: error });
  }
}
