import { isObject } from '../fields.ts';
import type { Fields } from '../fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import { ImportRefusal } from '../importer.ts';
import { readLongDocument } from '../long-json/read-long-document.ts';
import { readText } from '../read-json-document.ts';
import type { Reading, SourceFile } from '../source-file.ts';
import { GuideRequests, requestsIn } from './requests.ts';

/** YAML takes ten times the memory and time of JSON. */
const LARGEST_YAML_BYTES = 48 * 2 ** 20;
/** Python's YAML names a value that it writes twice; many uses of one are a bomb. */
const MOST_ALIASES = 1000;

/** A report: its requests may be more than fit into memory as they are. */
export interface Report {
  /** Without the requests. */
  readonly value: Readonly<Record<string, unknown>>;
  /** The requests of a benchmark, by its place. */
  readonly requestsOf: (benchmark: Fields, index: number) => GuideRequests;
}

/** Throws `ImportRefusal` when it cannot be read. */
export async function readReport(file: SourceFile, notes: ImportNotes, reading: Reading): Promise<Report> {
  if (!file.head.text.trimStart().startsWith('{')) {
    return { value: asObject(await readYaml(file, reading)), requestsOf: (benchmark) => requestsIn(benchmark) };
  }
  const requests = new Map<string, GuideRequests>();
  const requestsAt = (index: string): GuideRequests => {
    const there = requests.get(index) ?? new GuideRequests();
    requests.set(index, there);
    return there;
  };
  const elements = (values: readonly unknown[], [, index = '', , status = '']: readonly string[]): void =>
    requestsAt(index).add(status, values);
  const value = await readLongDocument(
    file,
    [{ path: ['benchmarks', '*', 'requests', '*'], elements }],
    notes,
    reading,
  );
  return { value: asObject(value), requestsOf: (_, index) => requestsAt(String(index)) };
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
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
