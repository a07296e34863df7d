import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newestSection } from './versions.ts';

const git = (root: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/**
 * The time that archives and plugin.json state: that of the last commit, or SOURCE_DATE_EPOCH, so that two builds of one commit
 * are equal.
 */
export function dateOfRelease(root: string): Date {
  const { SOURCE_DATE_EPOCH: given } = process.env;
  const seconds = given ?? git(root, 'log', '-1', '--format=%ct');
  if (!/^\d{1,11}$/.test(seconds)) throw new Error(`SOURCE_DATE_EPOCH '${seconds}' must be seconds since 1970`);
  return new Date(Number(seconds) * 1000);
}

/** The newest tag of a version below `version` that is in the history; null if there is none. */
function previousTag(root: string, version: string): string | null {
  const tags = git(root, 'tag', '--merged', 'HEAD', '--sort=-version:refname', '--list', 'v*.*.*').split('\n');
  return tags.find((tag) => tag !== '' && tag !== `v${version}`) ?? null;
}

/** Subjects of the commits after a tag, the newest first; of all commits without one. */
const subjectsSince = (root: string, tag: string | null): readonly string[] =>
  git(root, 'log', '--no-merges', '--format=%s', tag === null ? 'HEAD' : `${tag}..HEAD`)
    .split('\n')
    .filter((subject) => subject !== '');

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
