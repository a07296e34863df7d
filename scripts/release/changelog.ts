/** The newest section of a changelog: `## 0.2.0 (unreleased)` or `## 0.2.0 (2026-11-30)`, and the text below it. */
export interface ChangelogSection {
  readonly version: string;
  /** Null if it is not released. */
  readonly date: string | null;
  readonly text: string;
}

const HEADING = /^## (\d+\.\d+\.\d+) \((unreleased|\d{4}-\d\d-\d\d)\)$/m;

export function newestSection(changelog: string): ChangelogSection {
  const heading = HEADING.exec(changelog);
  if (heading === null) throw new Error('CHANGELOG.md has no heading such as "## 0.2.0 (unreleased)"');
  const [line, version = '', state = ''] = heading;
  const [text = ''] = changelog.slice(heading.index + line.length).split(/^## /m);
  return { version, date: state === 'unreleased' ? null : state, text: text.trim() };
}

/** The changelog with its unreleased section as that of a version and a date, `2026-11-30`. */
export function withRelease(changelog: string, version: string, date: string): string {
  const { date: earlier, version: name } = newestSection(changelog);
  if (earlier !== null) {
    throw new Error(`the newest section of CHANGELOG.md is ${name} of ${earlier}: add "## ${version} (unreleased)"`);
  }
  return changelog.replace(HEADING, `## ${version} (${date})`);
}
