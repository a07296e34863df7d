import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, DamagedRunError, reasonOf } from '../../errors/expected-error.ts';
import { syncPath } from '../../files/durable-file.ts';
import { openRegularFile } from '../../files/read-regular-file.ts';

/** Logs are read into memory; larger files are rejected. */
const MAX_BYTES = 256 * 1024 * 1024;
/** A FIFO is opened without waiting for its reader, and then rejected. */
const APPEND = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | (constants.O_NONBLOCK ?? 0);

/**
 * The entries of a log, and the lines that are not JSON objects: writes truncated by a power failure or a full disk.
 */
export interface LogEntries {
  readonly entries: readonly Readonly<Record<string, unknown>>[];
  /** Line numbers, from 1. */
  readonly damagedLines: readonly number[];
}

/**
 * Appends one entry as one line and syncs it to disk. Safe for concurrent processes: each line is a single write in
 * append mode. A previously truncated line is closed first, so that it damages only itself. Throws the file system's
 * error.
 */
export async function appendEntry(path: string, entry: object): Promise<void> {
  const folder = dirname(path);
  const created = await mkdir(folder, { recursive: true });
  const file = await open(path, APPEND);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new DamagedRunError(path, 'it is not a regular file');
    const { size } = stat;
    const closing = size === 0 || (await endsWithNewline(file, size)) ? '' : '\n';
    await file.appendFile(`${closing}${JSON.stringify(entry)}\n`, 'utf8');
    await file.sync();
    if (size === 0) await syncPath(folder);
  } finally {
    await file.close();
  }
  // New folders must be synced as well as the file in them.
  for (let at = folder; created !== undefined && at.length >= created.length; at = dirname(at)) {
    await syncPath(dirname(at));
  }
}

async function endsWithNewline(file: Awaited<ReturnType<typeof open>>, size: number): Promise<boolean> {
  const last = Buffer.alloc(1);
  await file.read(last, 0, 1, size - 1);
  return last[0] === 0x0a;
}

/** Reads a log; empty if the file does not exist. Throws `DamagedRunError` if it cannot be read. */
export async function readEntries(path: string): Promise<LogEntries> {
  const text = await textOf(path);
  if (text === null) return { entries: [], damagedLines: [] };
  const entries: Readonly<Record<string, unknown>>[] = [];
  const damagedLines: number[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const entry = parseObject(line);
    if (entry === null) damagedLines.push(i + 1);
    else entries.push(entry);
  }
  return { entries, damagedLines };
}

/** Null if the file does not exist. */
async function textOf(path: string): Promise<string | null> {
  const file = await openRegularFile(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw new DamagedRunError(path, reasonOf(error));
  });
  if (file === null) return null;
  try {
    if ((await file.stat()).size > MAX_BYTES) throw new DamagedRunError(path, `it is larger than ${MAX_BYTES} bytes`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

function parseObject(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
