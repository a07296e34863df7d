import { isObject } from '../fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import { ImportRefusal } from '../importer.ts';
import { readJsonDocument, readText } from '../read-json-document.ts';
import type { Reading, SourceFile } from '../source-file.ts';

/** YAML takes ten times the memory and time of JSON. */
const LARGEST_YAML_BYTES = 48 * 2 ** 20;
/** Python's YAML names a value that it writes twice; many uses of one are a bomb. */
const MOST_ALIASES = 1000;

/** The report as plain values. Throws `ImportRefusal` when it cannot be read. */
export async function readReport(
  file: SourceFile,
  notes: ImportNotes,
  reading: Reading,
): Promise<Readonly<Record<string, unknown>>> {
  const isJson = file.head.text.trimStart().startsWith('{');
  const value = isJson ? await readJsonDocument(file, notes, reading) : await readYaml(file, reading);
  if (!isObject(value)) throw new ImportRefusal('it is no object');
  return value;
}

async function readYaml(file: SourceFile, reading: Reading): Promise<unknown> {
  const text = await readText(file, reading, LARGEST_YAML_BYTES);
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { logLevel: 'silent', prettyErrors: false, uniqueKeys: true });
  const [error] = document.errors;
  if (error !== undefined) throw new ImportRefusal(`it is not YAML at character ${error.pos[0]}`);
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    // What `toJS` throws for too many uses of one value.
    if (error instanceof ReferenceError) throw new ImportRefusal('its YAML repeats values too often');
    throw error;
  }
}
