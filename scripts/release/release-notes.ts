import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newestSection } from './changelog.ts';
import { previousTag, subjectsSince } from './commits.ts';

export const NOTES_FILE = 'NOTES.md';

/** The notes of a version: its section of the changelog, and the commits since the previous version. */
export function releaseNotes(root: string, version: string): string {
  const { text } = newestSection(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'));
  const tag = previousTag(root, version);
  const subjects = subjectsSince(root, tag);
  // The commits of a first version are the whole history.
  const commits =
    tag === null
      ? `The first version, of ${subjects.length} commits.`
      : `Commits since ${tag}\n\n${subjects.map((subject) => `- ${subject}`).join('\n')}`;
  return `${text}\n\n${commits}\n`;
}
