import { expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { parsedText, parsedYaml } from './parsed-yaml.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILES = globSync(['catalog/*.yaml', 'prometheus/{rules,alerts}/*.yml', 'exporter/cli/peer-options/peers.yaml'], {
  cwd: ROOT,
});

/** Where the value of a text is kept. */
function keptFile(text: string): string {
  const folder = getCompileCacheDir();
  if (folder === undefined) throw new Error('Node keeps no compiled modules here');
  return join(folder, `yaml-${createHash('sha256').update(text).digest('hex')}.json`);
}

test.each(FILES)('%s: what is kept is what the file holds', (file) => {
  const url = new URL(`../${file}`, import.meta.url);
  const expected: unknown = parse(readFileSync(url, 'utf8'), { merge: true });
  expect(parsedYaml(url)).toEqual(expected);
  expect(parsedYaml(url)).toEqual(expected);
});

test('a value is read from what is kept, and parsed again where that is broken', () => {
  const text = `key: ${process.pid}\n`;
  const file = keptFile(text);
  try {
    expect(parsedText(text)).toEqual({ key: process.pid });
    writeFileSync(file, '{"key":"kept"}');
    expect(parsedText(text)).toEqual({ key: 'kept' });
    writeFileSync(file, '{"key":');
    expect(parsedText(text)).toEqual({ key: process.pid });
    expect(readFileSync(file, 'utf8')).toBe(`{"key":${process.pid}}`);
  } finally {
    rmSync(file, { force: true });
  }
});
