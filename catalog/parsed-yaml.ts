import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import type * as Yaml from 'yaml';

const load = createRequire(import.meta.url);

/**
 * What a YAML file of the project holds; merge keys are followed. Parsing takes more than a millisecond of processor time
 * for each KB, so the result is kept beside the modules that Node has compiled, which come from the same files.
 */
export function parsedYaml(url: URL): unknown {
  return parsedText(readFileSync(url, 'utf8'));
}

/** The same of a part of a file. */
export function parsedText(text: string): unknown {
  const folder = getCompileCacheDir();
  const file = folder && join(folder, `yaml-${createHash('sha256').update(text).digest('hex')}.json`);
  return (file && keptValue(file)) ?? parse(text, file);
}

function keptValue(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function parse(text: string, file: string | undefined): unknown {
  const { parse: parseYaml } = load('yaml') as typeof Yaml;
  const value: unknown = parseYaml(text, { merge: true });
  if (file !== undefined) keep(file, value);
  return value;
}

/** Best effort: the next process parses again what could not be kept. */
function keep(file: string, value: unknown): void {
  const unfinished = `${file}.${process.pid}`;
  try {
    writeFileSync(unfinished, JSON.stringify(value), { flag: 'wx' });
    renameSync(unfinished, file);
  } catch {
    rmSync(unfinished, { force: true });
  }
}
