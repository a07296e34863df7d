import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ReleaseMetrics } from './compare.ts';
import type { Definition, SourceFile } from './definition.ts';
import { nameGroups, namedInRust, type NameGroup } from './rust-names.ts';

/** A constructor of client_golang with its options, or a description of a collector's own. */
const CONSTRUCTOR = /prometheus\.(?:New(Gauge|Counter|Histogram|Summary)(?:Vec)?|(NewDesc))\(/g;
const CONSTANT = /(\w+)\s*(?:string\s*)?=\s*("(?:[^"\\]|\\.)*")/g;
const LIST = /(\w+)\s*=\s*\[\](?:string|float64)\{([^{}]*)\}/g;
const ALIAS = /(\w+)\s*=\s*(?:\w+\.)?(\w+)$/gm;
const APPENDED = /(\w+)\s*=\s*append\(/g;

/** The metrics that Go sources define with Prometheus' client. What cannot be read from the text alone is null. */
export function goDefinitions(files: readonly SourceFile[]): readonly Definition[] {
  const known = new Constants(files);
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(CONSTRUCTOR)].flatMap((match): Definition[] => {
      const call = argumentsOf(text, match.index + match[0].length);
      const at = `${path}:${text.slice(0, match.index).split('\n').length}`;
      const [kind, description] = [match[1]?.toLowerCase(), match[2]];
      const name = description === undefined ? known.nameOf(call[0] ?? '') : known.text(call[0] ?? '');
      if (name === null) return [];
      const labels = call[description === undefined ? 1 : 2];
      return [
        {
          name,
          type: (kind ?? null) as Definition['type'],
          labels: labels === undefined ? [] : known.list(labels),
          bounds: kind === 'histogram' ? known.bounds(call[0] ?? '') : null,
          at,
        },
      ];
    }),
  );
}

/** What the names in an expression stand for, as far as declarations of the same sources say. */
class Constants {
  readonly #texts = new Map<string, string>();
  readonly #lists = new Map<string, string>();
  readonly #aliases = new Map<string, string>();

  constructor(files: readonly SourceFile[]) {
    for (const { text } of files) {
      for (const [, name = '', value = '""'] of text.matchAll(CONSTANT))
        this.#texts.set(name, JSON.parse(value) as string);
      for (const [, name = '', other = ''] of text.matchAll(ALIAS)) this.#aliases.set(name, other);
      for (const [all, name = ''] of text.matchAll(LIST)) this.#lists.set(name, all.slice(all.indexOf('[')));
      for (const match of text.matchAll(APPENDED)) {
        const inner = argumentsOf(text, match.index + match[0].length);
        this.#lists.set(match[1] ?? '', `append(${inner.join(',')})`);
      }
    }
  }

  /** A string, a constant of any package, or a sum of both; null for anything else. */
  text(expression: string): string | null {
    const parts = expression.split('+').map((part) => {
      const trimmed = part.trim();
      if (/^"(?:[^"\\]|\\.)*"$/.test(trimmed)) return JSON.parse(trimmed) as string;
      return this.#named(trimmed.split('.').at(-1) ?? '');
    });
    return parts.includes(null) ? null : parts.join('');
  }

  #named(name: string): string | null {
    return this.#texts.get(name) ?? this.#texts.get(this.#aliases.get(name) ?? '') ?? null;
  }

  nameOf(options: string): string | null {
    const parts = ['Namespace', 'Subsystem', 'Name'].flatMap((key) => {
      const value = field(options, key);
      return value === null ? [] : [this.text(value)];
    });
    return parts.length === 0 || parts.includes(null) ? null : parts.join('_');
  }

  bounds(options: string): readonly number[] | null {
    const value = field(options, 'Buckets');
    if (value === 'prometheus.DefBuckets') return [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
    const numbers = value === null ? null : this.list(value)?.map(Number);
    return numbers === undefined || numbers === null || numbers.some(Number.isNaN) ? null : numbers;
  }

  /** The elements of a list, of its name, or of lists that are joined. */
  list(expression: string): readonly string[] | null {
    const trimmed = expression.trim();
    const literal = /^\[\](string|float64)\{([^]*)\}$/.exec(trimmed);
    if (literal !== null) {
      const elements = (literal[2] ?? '')
        .split(',')
        .map((element) => element.trim())
        .filter(Boolean);
      const values = elements.map((element) => (literal[1] === 'string' ? this.text(element) : element));
      return values.includes(null) ? null : (values as string[]);
    }
    if (trimmed.startsWith('append(')) {
      const joined = argumentsOf(trimmed, 'append('.length).map((part) =>
        part.startsWith('"') ? [this.text(part)] : this.list(part.replace(/\.\.\.$/, '')),
      );
      return joined.includes(null) ? null : (joined.flat() as string[]);
    }
    const declared = this.#lists.get(trimmed.split('.').at(-1) ?? '');
    return declared === undefined || declared === trimmed ? null : this.list(declared);
  }
}

/** The value of a field in a composite literal. */
function field(literal: string, key: string): string | null {
  const match = new RegExp(`\\b${key}:\\s*`).exec(literal);
  return match === null ? null : (argumentsOf(literal, match.index + match[0].length)[0] ?? null);
}

/** The arguments from a position up to the bracket that closes the list, without the space around them. */
export function argumentsOf(text: string, start: number): string[] {
  const found: string[] = [];
  let [depth, from, quote] = [0, start, ''];
  for (let at = start; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (quote !== '') {
      if (character === '\\' && quote !== '`') at += 1;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === '`') quote = character;
    else if (text.startsWith('//', at)) at = endOfLine(text, at);
    else if ('([{'.includes(character)) depth += 1;
    else if (depth === 0 && (character === ',' || ')]}'.includes(character))) {
      if (text.slice(from, at).trim() !== '') found.push(text.slice(from, at).trim());
      from = at + 1;
      if (character !== ',') return found;
    } else if (')]}'.includes(character)) depth -= 1;
  }
  return found;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

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
