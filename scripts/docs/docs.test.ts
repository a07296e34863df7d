import { existsSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { catalogs } from '../../catalog/load.ts';
import { acceptedAs, PEERS } from '../../exporter/cli/peer-options/peers.ts';
import { flagsByCommand } from './command-line.ts';
import { anchorsIn, callsIn, documents, linkedFile, linksIn, loneFlagsIn } from './documents.ts';
import type { Document } from './documents.ts';
import { generatedPages } from './pages.ts';

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
