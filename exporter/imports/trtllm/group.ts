import type { FileGroup, RecognizedFile } from '../importer.ts';
import { ITERATIONS, REPORT, REQUESTS } from './recognize.ts';

/** What people call the three files; without it files of one run have one name. */
const KINDS = /report|requests?|iterations?|iter|records?|stats|log|json/g;

/**
 * A report, its requests and its iterations are a run. In a folder with one of each they belong together, whatever their
 * names; else those whose names differ in their kind only.
 */
export function groupTrtllm(files: readonly RecognizedFile[]): readonly FileGroup[] {
  const folders = Map.groupBy(files, ({ file }) => file.folder);
  return [...folders.values()].flatMap((inFolder) => {
    const isOneRun = [REPORT, REQUESTS, ITERATIONS].every(
      (format) => inFolder.filter(({ recognition }) => recognition.format === format).length <= 1,
    );
    const runs = isOneRun ? [inFolder] : [...Map.groupBy(inFolder, ({ file }) => stem(file.name)).values()];
    return runs.map(groupOf);
  });
}

function groupOf(files: readonly RecognizedFile[]): FileGroup {
  const named = files.find(({ recognition }) => recognition.format === REPORT) ?? files[0];
  return { files, name: named?.file.name ?? '', group_id: null, step: null, repeat: null };
}

function stem(name: string): string {
  return name
    .toLowerCase()
    .replace(KINDS, '')
    .replace(/[^a-z0-9]+/g, '');
}
