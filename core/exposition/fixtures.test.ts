import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

import { parseExposition } from './parse.ts';

const own = (name: string): URL => new URL(`./fixtures/${name}`, import.meta.url);
const shared = (name: string): URL => new URL(`../../../shared/fixtures/${name}`, import.meta.url);
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0';

/** Pages of real servers. The shared ones are larger and need not be there. */
const PAGES: [name: string, file: URL, contentType: string][] = [
  ['sglang-router', own('sglang-router.txt'), 'text/plain'],
  ['triton', own('triton.txt'), 'text/plain'],
  ['trtllm', own('trtllm.txt'), 'text/plain'],
  ...['lmcache', 'sglang', 'sglang-router', 'smg', 'triton', 'trtllm', 'vllm'].flatMap((system) =>
    ['idle.txt', 'loaded.txt'].map((file): [string, URL, string] => [
      `shared ${system}/${file}`,
      shared(`${system}/${file}`),
      'text/plain',
    ]),
  ),
  ['shared trtllm/loaded.openmetrics.txt', shared('trtllm/loaded.openmetrics.txt'), OPENMETRICS],
];

describe.each(PAGES)('%s', (name, file, contentType) => {
  const present = existsSync(file);
  const run = present || !name.startsWith('shared') ? test : test.skip;

  run('every line is there', () => {
    const bytes = new Uint8Array(readFileSync(file));
    const page = parseExposition(bytes, contentType);
    // An independent count: these pages have no blanks at line ends and no line feeds in labels.
    const lines = new TextDecoder().decode(bytes).split('\n');
    const sampleLines = lines.filter((line) => line !== '' && !line.startsWith('#'));
    const typed = lines.filter((line) => line.startsWith('# TYPE ')).map((line) => line.split(' '));

    expect(page.duplicates.count).toBe(0);
    expect(page.missingFinalNewline).toBe(false);
    expect(page.columns.count).toBe(sampleLines.length);
    expect(page.families.reduce((sum, { rows }) => sum + rows.length, 0)).toBe(sampleLines.length);
    for (const [, , family, type] of typed) expect(page.family(family ?? '')?.type).toBe(type);
    expect(page.families.filter(({ type }) => type !== 'unknown')).toHaveLength(
      new Set(typed.map(([, , n]) => n)).size,
    );

    const { names, nameIds, values } = page.columns;
    expect(Array.from(nameIds, (id) => names[id])).toEqual(sampleLines.map((line) => /^[^{ ]*/.exec(line)?.[0]));
    expect(Array.from(values)).toEqual(
      sampleLines.map((line) => Number(line.slice(line.lastIndexOf(' ') + 1).replace('+Inf', 'Infinity'))),
    );
  });
});
