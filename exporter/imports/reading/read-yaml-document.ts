import { printable } from '../import-notes.ts';
import { ImportRefusal } from '../import-refusal.ts';
import { readText } from './read-json-document.ts';
import type { Reading, SourceFile } from './source-file.ts';

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
