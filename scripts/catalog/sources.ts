import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ReleaseMetrics } from './compare.ts';
import {
  goDefinitions,
  nameGroups,
  namedInRust,
  type Definition,
  type NameGroup,
  type SourceFile,
} from './definitions.ts';

/** Where the sources of an engine's metrics are published. */
export interface EngineSources {
  /** Its catalogs. */
  readonly catalogs: readonly string[];
  /** How the names of its metrics begin, as a regular expression. */
  readonly prefixes: string;
  /** Families whose names are put together in a way that no text shows: they are not looked for. */
  readonly unreadable?: RegExp;
  readonly packages: readonly { readonly registry: 'pypi' | 'crates' | 'go'; readonly name: string }[];
}

export const ENGINES: Readonly<Record<string, EngineSources>> = {
  vllm: { catalogs: ['vllm'], prefixes: 'vllm:(?!:)', packages: [{ registry: 'pypi', name: 'vllm' }] },
  sglang: { catalogs: ['sglang'], prefixes: 'sglang:', packages: [{ registry: 'pypi', name: 'sglang' }] },
  lmcache: { catalogs: ['lmcache'], prefixes: 'lmcache:', packages: [{ registry: 'pypi', name: 'lmcache' }] },
  dynamo: {
    catalogs: ['dynamo', 'dynamo-router'],
    prefixes:
      'dynamo_(frontend|component|planner|router|kvindexer|kvrouter|tokio|transport|work_handler|request_plane|embedding|quic)_',
    unreadable: /^dynamo_planner_.*(_replicas|_decision)$|_event_warnings$|^dynamo_kvindexer_listeners$/,
    packages: [
      { registry: 'crates', name: 'dynamo-runtime' },
      { registry: 'crates', name: 'dynamo-llm' },
      { registry: 'pypi', name: 'ai-dynamo' },
    ],
  },
  'llm-d-epp': {
    catalogs: ['llm-d-epp'],
    prefixes: 'llm_d_epp_|llm_d_router_epp_|inference_(extension|objective|pool)_|llm_d_inference_scheduler_',
    packages: [{ registry: 'go', name: 'github.com/llm-d/llm-d-router' }],
  },
};

const run = promisify(execFile);
const READER = fileURLToPath(new URL('read_archive.py', import.meta.url));
const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;
const WHEEL = ['--no-deps', '--only-binary=:all:', '--python-version=3.12', '--implementation=cp', '--no-cache-dir'];
/** The newest tag of wheels that an engine uses: pip takes the older ones as well. */
const PLATFORMS = [
  'any',
  'manylinux2014_x86_64',
  'manylinux_2_28_x86_64',
  'manylinux_2_31_x86_64',
  'manylinux_2_34_x86_64',
  'manylinux_2_35_x86_64',
  'manylinux_2_39_x86_64',
];

/** The newest release of an engine in the registry of its first package. */
export async function newestRelease({ packages: [first] }: EngineSources): Promise<string> {
  if (first === undefined) throw new Error('no package');
  const { registry, name } = first;
  const [program, ...args] = {
    pypi: ['python3', '-m', 'pip', 'index', 'versions', name],
    crates: ['cargo', 'info', '--quiet', name],
    go: ['go', 'list', '-m', `${name}@latest`],
  }[registry] as [string, ...string[]];
  const { stdout } = await run(program, args);
  const version = { pypi: /\(([^)]+)\)/, crates: /^version: (\S+)/m, go: / v(\S+)/ }[registry].exec(stdout)?.[1];
  if (version === undefined) throw new Error(`${name}: ${registry} names no version`);
  return version;
}

/** Reads the metrics out of the sources of a release, which are downloaded into `folder` and removed. */
export async function metricsOfRelease(
  engine: EngineSources,
  release: string,
  folder: string,
): Promise<ReleaseMetrics> {
  await mkdir(folder, { recursive: true });
  const begins = new RegExp(`^(?:${engine.prefixes})`);
  const definitions: Definition[] = [];
  const quoted = new Set<string>();
  const groups: NameGroup[] = [];
  for (const { registry, name } of engine.packages) {
    const place = await mkdtemp(join(folder, 'release-'));
    try {
      const archive = await { pypi: wheel, crates: crate, go: module }[registry](name, release, place);
      const { stdout } = await run('python3', [READER, archive, engine.prefixes], { maxBuffer: MAX_OUTPUT_BYTES });
      const read = JSON.parse(stdout) as { files: SourceFile[]; definitions: Definition[] };
      definitions.push(...read.definitions, ...goDefinitions(read.files.filter(({ path }) => path.endsWith('.go'))));
      definitions.push(...namedInRust(read.files, begins));
      groups.push(...nameGroups(read.files));
      for (const { text } of read.files) for (const each of quotedNames(text)) quoted.add(each);
    } finally {
      await rm(place, { recursive: true });
    }
  }
  for (const { name } of definitions) quoted.add(name);
  if (engine.packages.every(({ registry }) => registry === 'pypi')) definitions.push(...namedOnly(definitions, quoted));
  return {
    definitions: definitions.filter(({ name }) => begins.test(name)),
    groups,
    quoted,
    begins,
    unreadable: engine.unreadable ?? null,
  };
}

async function wheel(name: string, release: string, place: string): Promise<string> {
  const platforms = PLATFORMS.map((platform) => `--platform=${platform}`);
  await run('python3', [
    '-m',
    'pip',
    'download',
    '--quiet',
    ...WHEEL,
    ...platforms,
    '--dest',
    place,
    `${name}==${release}`,
  ]);
  const [file] = await readdir(place);
  return join(place, file ?? '');
}

async function crate(name: string, release: string, place: string): Promise<string> {
  await run('cargo', ['info', '--quiet', `${name}@${release}`], { env: { ...process.env, CARGO_HOME: place } });
  const cache = join(place, 'registry/cache');
  const [index = ''] = await readdir(cache);
  return join(cache, index, `${name}-${release}.crate`);
}

async function module(name: string, release: string, place: string): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', `${name}@v${release}`], { cwd: place });
  return (JSON.parse(stdout) as { Zip: string }).Zip;
}

/** Whole names in quotes that no constructor takes directly: names of constants, or keys of a table. */
function namedOnly(definitions: readonly Definition[], quoted: ReadonlySet<string>): Definition[] {
  const defined = new Set(definitions.map(({ name }) => name));
  return [...quoted]
    .filter((name) => !defined.has(name) && !name.endsWith('_'))
    .map((name) => ({ name, type: null, labels: null, bounds: null, at: 'a name in quotes' }));
}

function quotedNames(text: string): string[] {
  return [...text.matchAll(/["'{}/]((?:[a-z]+:)?[a-zA-Z][a-zA-Z0-9_]*)["'{]/g)].map(([, name = '']) => name);
}
