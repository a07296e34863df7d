import { ImportRefusal, printable, type ImportNotes } from '../import-notes.ts';
import { JsonTextError, parseJson } from './json-text.ts';
import type { LargeNumbers } from './json-text.ts';
import { readBytes } from './source-file.ts';
import type { Reading, SourceFile } from './source-file.ts';

/** The longest text that V8 can hold is 512 MB; parsed it takes several times that. */
export const MAX_DOCUMENT_BYTES = 256 * 2 ** 20;

export interface DocumentOptions {
  /** Bytes; default `MAX_DOCUMENT_BYTES`. */
  readonly largest?: number;
  /** Whether whole numbers above 2^53 are rounded (default), or bigints. */
  readonly largeNumbers?: LargeNumbers;
}

/**
 * A file that is one JSON value, as `parseJson` reads it: whole in memory. Throws `ImportRefusal` when it is larger
 * than `largest`, cut off, or not JSON; the message states the position.
 */
export async function readJsonDocument(
  file: SourceFile,
  notes: ImportNotes,
  reading: Reading,
  { largest = MAX_DOCUMENT_BYTES, largeNumbers = 'rounded' }: DocumentOptions = {},
): Promise<unknown> {
  const text = await readText(file, reading, largest);
  try {
    const { value, notNumbers } = parseJson(text, largeNumbers);
    if (notNumbers > 0) notes.add(`${file.name}: ${notNumbers} × NaN or Infinity were read as unknown`);
    return value;
  } catch (error) {
    if (error instanceof JsonTextError) throw new ImportRefusal(`${file.name}: ${error.message}`);
    throw error;
  }
}

/** A file as text: UTF-8, or UTF-16 when it begins with that mark. Throws `ImportRefusal` when it is larger. */
export async function readText(
  file: SourceFile,
  reading: Reading,
  largest: number = MAX_DOCUMENT_BYTES,
): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of readBytes(file, reading)) {
    bytes += piece.length;
    if (bytes > largest) {
      throw new ImportRefusal(
        `${file.name} is larger than ${Math.round(largest / 2 ** 20)} MB, and this format can only be read as a whole; ` +
          'import the summary without the detail of each request',
      );
    }
    pieces.push(Buffer.from(piece));
  }
  return decoded(Buffer.concat(pieces));
}

function decoded(bytes: Buffer): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return new TextDecoder('utf-8').decode(bytes);
}

/** YAML takes ten times the memory and time of JSON. */
const MAX_YAML_BYTES = 48 * 2 ** 20;
/** Python's YAML names a value that it writes twice; many uses of one are a bomb. */
const MAX_ALIASES = 1000;

/** A file that is one YAML document. Throws `ImportRefusal` when it is larger than 48 MB, or no YAML. */
export async function readYamlDocument(file: SourceFile, reading: Reading): Promise<unknown> {
  const text = await readText(file, reading, MAX_YAML_BYTES);
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { logLevel: 'silent', prettyErrors: false, uniqueKeys: true });
  const [error] = document.errors;
  if (error?.code === 'DUPLICATE_KEY') {
    const key = printable(/^[^:\n]*/.exec(text.slice(error.pos[0]))?.[0] ?? '');
    throw new ImportRefusal(
      `${file.name}: a mapping has the key "${key}" twice, the second at character ${error.pos[0]}`,
    );
  }
  if (error !== undefined) throw new ImportRefusal(`${file.name}: it is not YAML at character ${error.pos[0]}`);
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    // What `toJS` throws for too many uses of one value.
    if (error instanceof ReferenceError) throw new ImportRefusal(`${file.name}: its YAML repeats values too often`);
    throw error;
  }
}
