import { cp, mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Unavailable } from './bench.ts';
import { runProgram } from './child-program.ts';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const BUILD_TIMEOUT_SECONDS = 300;

/**
 * A temporary folder in which the programs of the peers are built, each when it is first asked for. It is removed when
 * the process ends. Every method rejects with `Unavailable` when the peers or a compiler are missing.
 */
export class Workshop {
  readonly folder: string;
  readonly #peers: string;
  readonly #made = new Map<string, Promise<string>>();

  private constructor(folder: string, peers: string) {
    this.folder = folder;
    this.#peers = peers;
  }

  /** `peers` is the folder of the peers' programs; it need not exist. */
  static async open(peers: string): Promise<Workshop> {
    const folder = await mkdtemp(join(tmpdir(), 'llmbench-bench-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    // The peers' Node programs then use the same packages, in the same versions, as ours.
    await symlink(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
    return new Workshop(folder, peers);
  }

  /** A script, copied to where the repository's packages are found. */
  script(path: string): Promise<string> {
    return this.#once(path, async () => {
      const copy = join(this.folder, path);
      await mkdir(dirname(copy), { recursive: true });
      await cp(this.#source(path), copy);
      return copy;
    });
  }

  /** A C program, compiled. */
  compiledC(path: string): Promise<string> {
    return this.#once(path, async () => {
      const source = this.#source(path);
      const binary = join(this.folder, path.replace(/\.c$/, ''));
      await mkdir(dirname(binary), { recursive: true });
      await build('gcc', ['-O2', '-o', binary, source], this.folder);
      return binary;
    });
  }

  /** The Go module in a folder, built. */
  compiledGo(path: string): Promise<string> {
    return this.#once(path, async () => {
      const source = join(this.folder, path);
      await cp(this.#source(path), source, { recursive: true });
      const binary = join(this.folder, `${path.replaceAll('/', '-')}-program`);
      await build('go', ['build', '-o', binary, '.'], source);
      return binary;
    });
  }

  /** A Python with what the peers' Python programs import. */
  python(): Promise<string> {
    return this.#once('venv', async () => {
      const venv = join(this.folder, 'venv');
      await build('python3', ['-m', 'venv', venv], this.folder);
      const python = join(venv, 'bin/python');
      const install = ['-m', 'pip', 'install', '--quiet', '--timeout', '15', '--retries', '1'];
      await build(python, [...install, 'prometheus_client', 'aiohttp', 'uvloop'], this.folder);
      return python;
    });
  }

  /** Pages of `/metrics` made from the peers' catalog: the folder that holds <page>.1.txt and <page>.2.txt. */
  expositionPages(): Promise<string> {
    return this.#once('pages', async () => {
      const generator = await this.script('exposition/gen_pages.mjs');
      const pages = join(this.folder, 'pages');
      await runProgram(process.execPath, [generator, this.#source('../catalog'), pages]);
      return pages;
    });
  }

  /** Made once, also when that fails: what could not be had is not tried again in each round. */
  #once(key: string, make: () => Promise<string>): Promise<string> {
    const made = this.#made.get(key) ?? make();
    this.#made.set(key, made);
    return made;
  }

  #source(path: string): string {
    if (!existsSync(this.#peers))
      throw new Unavailable(`no folder with the peers' programs at ${this.#peers} (--peers)`);
    const source = join(this.#peers, path);
    if (!existsSync(source)) throw new Unavailable(`the peers' folder has no ${path}`);
    return source;
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
