import { mkdir, writeFile, mkdtemp, readFile } from 'node:fs/promises';
import { join, basename } from 'node:path';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { labelsOf, loadCatalog } from '../catalog/load.ts';
import type { CatalogFamily } from '../catalog/types.ts';
import { PythonEnvironment } from '../scripts/real-servers/processes.ts';
import { seededRandom } from '../core/stats/seeded-random.ts';
import { runProgram } from './child-program.ts';

/** Bounds of families for which the catalog has none. */
const LATENCY_BOUNDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
];
const TOKEN_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5];
const MODEL = 'meta-llama/Llama-3.1-8B-Instruct';
const LABEL_VALUES: Readonly<Record<string, string>> = {
  model_name: MODEL,
  model: MODEL,
  engine_type: 'unified',
  finished_reason: 'stop',
  pp_rank: '0',
  moe_ep_rank: '0',
};

interface PageForm {
  readonly system: string;
  /** Each family has its series this often, with another value of `rankLabel`. */
  readonly ranks: number;
  readonly rankLabel: string;
}

const PAGES: Readonly<Record<string, PageForm>> = {
  vllm: { system: 'vllm', ranks: 1, rankLabel: 'engine' },
  sglang: { system: 'sglang', ranks: 2, rankLabel: 'tp_rank' },
  big: { system: 'vllm', ranks: 100, rankLabel: 'engine' },
};

/** Writes two scrapes of each page, `<page>.1.txt` and `<page>.2.txt`: the same series, counters moved on. */
async function writeExpositionPages(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const random = seededRandom('pages');
  for (const [name, form] of Object.entries(PAGES)) {
    const families = familiesOf(form, random);
    for (const scrape of [1, 2]) await writeFile(join(folder, `${name}.${scrape}.txt`), pageOf(families, random));
  }
}

interface Series {
  readonly labels: string;
  /** Per bucket, the last one without a bound. */
  readonly counts: number[];
  sum: number;
  value: number;
}

interface FamilyPage {
  readonly family: CatalogFamily;
  readonly bounds: readonly number[];
  readonly series: readonly Series[];
}

function familiesOf({ system, ranks, rankLabel }: PageForm, random: () => number): FamilyPage[] {
  const catalog = loadCatalog(system);
  return catalog.families.map((family) => {
    const bounds = boundsOf(family);
    const names = labelsOf(catalog, family).filter((name) => name !== 'le' && name !== rankLabel);
    const series = Array.from({ length: ranks }, (_, rank) => ({
      labels: [...names.map((name) => `${name}="${LABEL_VALUES[name] ?? 'x'}"`), `${rankLabel}="${rank}"`].join(','),
      counts: [...bounds, Infinity].map(() => 0),
      sum: 0,
      value: Math.floor(random() * 1e8),
    }));
    return { family, bounds, series };
  });
}

function boundsOf({ buckets, unit }: CatalogFamily): readonly number[] {
  if (Array.isArray(buckets) && typeof buckets[0] === 'number') return buckets as readonly number[];
  return unit.includes('token') ? TOKEN_BOUNDS : LATENCY_BOUNDS;
}

function pageOf(families: readonly FamilyPage[], random: () => number): string {
  const lines: string[] = [];
  for (const { family, bounds, series } of families) {
    const type = ['counter', 'gauge', 'histogram'].includes(family.type) ? family.type : 'untyped';
    lines.push(`# HELP ${family.name} ${family.help.replaceAll('\n', ' ')}`, `# TYPE ${family.name} ${type}`);
    for (const each of series) {
      if (type === 'histogram') lines.push(...histogramLines(family.name, bounds, each, random));
      else lines.push(`${family.name}{${each.labels}} ${valueText(family, each, random)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Moves the histogram on and writes it. */
function histogramLines(name: string, bounds: readonly number[], series: Series, random: () => number): string[] {
  const { labels, counts } = series;
  let count = 0;
  const buckets = [...bounds, Infinity].map((bound, i) => {
    if (random() < 0.6) counts[i] = (counts[i] ?? 0) + Math.floor(random() * 9000);
    count += counts[i] ?? 0;
    return `${name}_bucket{${labels},le="${bound === Infinity ? '+Inf' : float(bound)}"} ${float(count)}`;
  });
  series.sum += count * random();
  return [...buckets, `${name}_count{${labels}} ${float(count)}`, `${name}_sum{${labels}} ${series.sum}`];
}

function valueText({ unit }: CatalogFamily, series: Series, random: () => number): string {
  series.value += Math.floor(random() * 1e5);
  return unit === 'ratio' ? String(random()) : float(series.value);
}

/** As Python's client writes numbers. */
function float(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

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
