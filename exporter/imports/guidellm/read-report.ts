import { isObject } from '../reading/fields.ts';
import type { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import { ImportRefusal } from '../import-refusal.ts';
import { readLongDocument } from '../reading/long-json/read-long-document.ts';
import { readYamlDocument } from '../reading/read-yaml-document.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';
import { GuideRequests, requestsIn } from './requests.ts';

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
    return { value: asObject(await readYamlDocument(file, reading)), requestsOf: (benchmark) => requestsIn(benchmark) };
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
  if (!isObject(value)) throw new ImportRefusal('it is not an object');
  return value;
}
