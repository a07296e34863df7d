import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { AZURE, BURST_GPT, type CsvTraceFormat } from './trace-dataset.ts';
import type { FileType } from './open-dataset.ts';

/** Enough for the first line: hash ids of a long prompt are a few kilobytes. */
const FIRST_BYTES = 1 << 20;

/** Formats whose requests always have times. */
export const TIMED_TYPES: ReadonlySet<string> = new Set<FileType>(['bailian_trace', 'burst_gpt_trace', 'azure_trace']);

/**
 * The format of a file by its beginning, of a folder `random_pool`. Undefined: it cannot be read, which opening it
 * reports; null: none of the known formats.
 */
export function detectFileType(path: string): FileType | null | undefined {
  const beginning = beginningOf(path);
  return typeof beginning === 'string' ? typeOfText(beginning) : beginning === null ? 'random_pool' : undefined;
}

/** The first line that is not blank; empty when the file cannot be read. */
export const firstLineOf = (path: string): string => lineOf(beginningOf(path) ?? '');

const lineOf = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? '';

/** Null: a folder; undefined: it cannot be read. */
function beginningOf(path: string): string | null | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    if (fstatSync(file).isDirectory()) return null;
    const bytes = Buffer.alloc(FIRST_BYTES);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, FIRST_BYTES, 0)).replace(/^\uFEFF/, '');
  } finally {
    closeSync(file);
  }
}

function typeOfText(text: string): FileType | null {
  const line = lineOf(text).trim();
  if (line.startsWith('[')) return /"conversations?"\s*:/.test(text) ? 'sharegpt' : null;
  if (line.startsWith('{')) return typeOfKeys(keysOf(line));
  const csv = [BURST_GPT, AZURE].find((format) => hasColumns(line, format));
  return csv?.type ?? (line === '' ? 'single_turn' : null);
}

function typeOfKeys(keys: ReadonlySet<string>): FileType {
  const has = (...names: readonly string[]): boolean => names.some((name) => keys.has(name));
  if (has('chat_id') && has('parent_chat_id') && has('input_length')) return 'bailian_trace';
  if (has('input_length', 'text_input')) return 'mooncake_trace';
  if (has('conversations', 'conversation')) return 'sharegpt';
  if (has('turns')) return 'multi_turn';
  if (has('requests')) return 'sessions';
  return has('messages') ? 'raw_payload' : 'single_turn';
}

/** Of a line that is not whole or not JSON, what looks like keys. */
function keysOf(line: string): ReadonlySet<string> {
  try {
    return new Set(Object.keys(JSON.parse(line) as object));
  } catch {
    return new Set(Array.from(line.matchAll(/"(\w+)"\s*:/g), ([, key]) => key ?? ''));
  }
}

function hasColumns(header: string, { time, input, output }: CsvTraceFormat): boolean {
  const names = header.split(',');
  return [time, input, output].every((name) => names.includes(name));
}
