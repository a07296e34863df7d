import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { catalogs } from '../../catalog/load.ts';
import type { Command } from '../../exporter/cli/command.ts';
import { COMMANDS } from '../../exporter/cli/commands.ts';
import { acceptedAs, PEERS } from '../../exporter/cli/peer-options/peers.ts';
import { generatedPages } from './generate.ts';

const ROOT = new URL('../../', import.meta.url);

/** A page of the documentation: its path in the repository and its text. */
interface Document {
  readonly path: string;
  readonly text: string;
}

/** Everything that people read: the README files, CONTRIBUTING, CHANGELOG and `docs/`. */
function documents(): Document[] {
  const inDocs = readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' });
  const paths = [
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'grafana-plugin/README.md',
    ...inDocs.filter((name) => name.endsWith('.md') && !name.startsWith('node_modules')).map((name) => `docs/${name}`),
  ];
  return paths.map((path) => ({ path, text: readFileSync(new URL(path, ROOT), 'utf8') }));
}

/** The address of a link in a page; null when it leads out of the repository. */
function linkedFile({ path }: Document, link: string): string | null {
  if (/^[a-z]+:/.test(link)) return null;
  const [target = ''] = link.split('#');
  return fileURLToPath(new URL(target === '' ? '.' : target, new URL(path, ROOT)));
}

/** Addresses of links and pictures. */
const linksIn = ({ text }: Document): string[] =>
  Array.from(withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link ?? '');

/** The anchors that GitHub gives to the headings of a page. */
const anchorsIn = ({ text }: Document): Set<string> =>
  new Set(
    Array.from(withoutCode(text).matchAll(/^#+ (.*)$/gm), ([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

const withoutCode = (text: string): string => text.replace(/^( *)```.*?^\1```/gms, '');

/** A call of llmbench as a page shows it. */
interface Call {
  /** `run`, `runs list`; empty when the call names no command. */
  readonly words: readonly string[];
  readonly flags: readonly string[];
}

/** Every `llmbench …` in code blocks and in code within lines; lines that end in `\` go on in the next. */
function callsIn({ text }: Document): Call[] {
  const blocks = Array.from(text.matchAll(/^( *)```[^\n]*\n(.*?)^\1```/gms), ([, , code]) => code ?? '');
  const inline = Array.from(
    text.replace(/^( *)```.*?^\1```/gms, '').matchAll(/`([^`\n]+)`/g),
    ([, code]) => code ?? '',
  );
  const lines = [...blocks.flatMap((block) => block.replace(/\\\n\s*/g, ' ').split('\n')), ...inline];
  return lines.flatMap((line) =>
    Array.from(withoutQuotes(line).matchAll(CALL), ([, words = '']) => {
      const parts = words.trim().split(/\s+/);
      return {
        words: parts.filter((part) => !part.startsWith('-')),
        flags: parts.flatMap((part) => /^(--[a-z][a-z0-9-]*)/.exec(part)?.[1] ?? []),
      };
    }),
  );
}

/** The program at the beginning of a command, up to the end of that command. */
const CALL = /(?:^|[;&|(]|&&)\s*(?:[A-Z_]+=\S* )*(?:npx )?llmbench ([^;&|)#>]*)/g;

/** Quoted text is a value. */
const withoutQuotes = (line: string): string => line.replace(/"[^"]*"|'[^']*'/g, 'QUOTED');

/** Flags that stand alone in code within a line, such as `--slo`. */
const loneFlagsIn = ({ text }: Document): string[] =>
  Array.from(withoutCode(text).matchAll(/`(--[a-z][a-z0-9-]*)(?=[ `=])[^`\n]*`/g), ([, flag]) => flag ?? '');

/** Commands that pass options on to `llmbench run`. */
const TAKE_RUN_OPTIONS = ['ab', 'check'];

/** What the program answers to `--help-all`: by command (`run`, `runs list`, …), the flags that it names. */
async function flagsByCommand(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const flags = new Map<string, ReadonlySet<string>>();
  for (const command of COMMANDS) {
    const { name } = command;
    const help = await helpOf(command);
    const parts = partsOf(help, name);
    if (parts.length === 0) flags.set(name, flagsIn(help));
    const own = new Set<string>();
    for (const part of parts) {
      const found = flagsIn(await helpOf(command, part));
      flags.set(`${name} ${part}`, found);
      for (const flag of found) own.add(flag);
    }
    if (parts.length > 0) flags.set(name, own);
  }
  for (const name of TAKE_RUN_OPTIONS) {
    flags.set(name, new Set([...(flags.get(name) ?? []), ...(flags.get('run') ?? [])]));
  }
  return flags;
}

/** The names of `usage: llmbench runs [list|show|…]`. */
function partsOf(help: string, name: string): string[] {
  const [, list] = new RegExp(`^usage: llmbench ${name} \\[([a-z|]+)\\] \\[options\\]$`, 'm').exec(help) ?? [];
  return list?.includes('|') ? list.split('|') : [];
}

const flagsIn = (help: string): Set<string> =>
  new Set([
    '--help',
    '--help-all',
    ...Array.from(help.matchAll(/^ {2}(--[a-z][a-z0-9-]*)/gm), ([, flag]) => flag ?? ''),
  ]);

/** Runs in this process: a process per command would take seconds. */
async function helpOf({ load, loadHelp }: Command, ...part: readonly string[]): Promise<string> {
  const argv = [...part, '--help-all'];
  if (loadHelp !== undefined) return loadHelp(argv);
  const command = await load();
  const { stdout } = process;
  const write = stdout.write.bind(stdout);
  let text = '';
  stdout.write = (piece: string | Uint8Array): boolean => {
    text += String(piece);
    return true;
  };
  try {
    await command.run(argv);
  } finally {
    stdout.write = write;
  }
  return text;
}

const pages = documents();
const guides = pages.map((page) => [page.path, page] as const);

test.each(guides)('the links of %s lead somewhere', (_, page) => {
  const broken = linksIn(page).filter((link) => {
    const file = linkedFile(page, link);
    if (file === null) return false;
    const [, anchor] = link.split('#');
    if (anchor === undefined) return !existsSync(file);
    const target = link.startsWith('#') ? page : { path: file, text: readFileSync(file, 'utf8') };
    return !anchorsIn(target).has(anchor);
  });
  expect(broken).toEqual([]);
});

describe('commands and flags', () => {
  let flags: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  beforeAll(async () => {
    flags = await flagsByCommand();
  });

  test.each(guides)('those that %s names exist', (_, page) => {
    expect(unknownIn(page, flags)).toEqual([]);
  });

  test('an invented command and an invented flag are found', () => {
    const invented =
      '```sh\nnpx llmbench fly --high\nllmbench run --url x \\\n  --speed 3 | cat --number\n```\nAlso `--fast`.';
    expect(unknownIn({ path: 'x.md', text: invented }, flags)).toEqual(['llmbench fly', 'run --speed', '--fast']);
  });
});

test('what is made of the code is as the code makes it: node scripts/docs/generate.ts', async () => {
  const made = await generatedPages();
  const written = [...made.keys()].map((path) => [
    path,
    readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'),
  ]);
  expect(written).toEqual([...made]);
});

/** Flags of other tools that pages about llmbench name: also of servers in the catalogs and of benchmark tools. */
const OTHERS = new Set([
  ...['--enable-feature', '--output-details', '--save-detailed'],
  ...PEERS.flatMap(({ options }) => options.flatMap(([flags]) => flags.split(' '))),
  ...catalogs().flatMap(({ bucket_options: options = [] }) => options.map(({ name }) => name)),
]);
/** Pages about the servers, whose flags they name. */
const OF_SERVERS = /^docs\/(runbooks\/|upstream-errata)/;

function unknownIn(page: Document, flags: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const all = new Set([...flags.values()].flatMap((known) => [...known]));
  const calls = callsIn(page).flatMap(({ words: [first = '', second = ''], flags: given }) => {
    if (first === '' || !/^[a-z]/.test(first)) return [];
    const known = flags.get(`${first} ${second}`) ?? flags.get(first);
    if (known === undefined) return [`llmbench ${first}`];
    return given.filter((flag) => !known.has(flag) && acceptedAs(flag) === null).map((flag) => `${first} ${flag}`);
  });
  if (OF_SERVERS.test(page.path)) return calls;
  return [...calls, ...loneFlagsIn(page).filter((flag) => !all.has(flag) && !OTHERS.has(flag))];
}
