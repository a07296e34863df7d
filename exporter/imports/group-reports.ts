import type { FileGroup, RecognizedFile } from './importer.ts';

const EXTENSION = /\.(json|ya?ml)(\.\w+)?$/i;

/** Each report for itself; one that a folder has as JSON and as YAML, under the same name, is read as JSON alone. */
export function groupReports(files: readonly RecognizedFile[]): readonly FileGroup[] {
  const nameOf = ({ file: { folder, name } }: RecognizedFile): string => `${folder}/${name.replace(EXTENSION, '')}`;
  const isJson = ({ file }: RecognizedFile): boolean => file.head.text.trimStart().startsWith('{');
  const inJson = new Set(files.filter(isJson).map(nameOf));
  return files
    .filter((each) => isJson(each) || !inJson.has(nameOf(each)))
    .map((each) => ({ files: [each], name: each.file.name, group_id: null, step: null, repeat: null }));
}
