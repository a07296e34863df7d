import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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

const PACKAGE_FOLDERS = ['.', 'grafana-plugin'];

/** The chart and the image that it runs have the version of the package. */
const CHART_FILE = 'deploy/helm/llmbench/Chart.yaml';

interface Versioned {
  readonly version: string;
  readonly packages?: { readonly '': { readonly version: string } };
}

const read = (root: string, file: string): string => readFileSync(join(root, file), 'utf8');

/** The version of the npm package, which is that of everything else too. */
export const readVersion = (root: string): string => (JSON.parse(read(root, 'package.json')) as Versioned).version;

/** Where the version is another one than that of the package, or differs from the tag of the release. */
export function versionFaults(root: string, tag: string | null): readonly string[] {
  const version = readVersion(root);
  const locks = PACKAGE_FOLDERS.flatMap((folder) => {
    const file = join(folder, 'package-lock.json');
    const lock = JSON.parse(read(root, file)) as Versioned;
    return [
      [join(folder, 'package.json'), (JSON.parse(read(root, join(folder, 'package.json'))) as Versioned).version],
      [file, lock.version],
      [file, lock.packages?.[''].version],
    ] as const;
  });
  const section = newestSection(read(root, 'CHANGELOG.md'));
  const chart = /^version: (.*)$/m.exec(read(root, CHART_FILE))?.[1];
  const named = [...locks, [CHART_FILE, chart] as const, ['CHANGELOG.md', section.version] as const];
  const faults = named
    .filter(([, found]) => found !== version)
    .map(([file, found]) => `${file} names version ${found}, and package.json ${version}`);
  if (!read(root, 'grafana-plugin/CHANGELOG.md').includes(`\n## ${version}\n`)) {
    faults.push(`grafana-plugin/CHANGELOG.md has no section "## ${version}"`);
  }
  if (tag !== null && tag !== `v${version}`) faults.push(`the tag ${tag} is not that of version ${version}`);
  if (tag !== null && section.date === null) {
    faults.push(`CHANGELOG.md has no date for ${version}: npm run release -- --prepare ${version}`);
  }
  return [...new Set(faults)];
}

/** Writes a version into every file that names it, and today into CHANGELOG.md. Returns the changed files. */
export function prepareVersion(root: string, version: string): readonly string[] {
  const before = readVersion(root);
  if (version.localeCompare(before, 'en', { numeric: true }) < 0) {
    throw new Error(`version ${version} is below ${before} of package.json`);
  }
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(join(root, 'CHANGELOG.md'), withRelease(read(root, 'CHANGELOG.md'), version, today));
  const chart = read(root, CHART_FILE).replace(/^(version|appVersion): .*$/gm, `$1: ${version}`);
  writeFileSync(join(root, CHART_FILE), chart);
  for (const folder of PACKAGE_FOLDERS) {
    const flags = ['--no-git-tag-version', '--allow-same-version', '--ignore-scripts'];
    execFileSync('npm', ['version', version, ...flags], { cwd: join(root, folder), stdio: ['ignore', 'ignore', 2] });
  }
  const packages = PACKAGE_FOLDERS.flatMap((folder) => [
    join(folder, 'package.json'),
    join(folder, 'package-lock.json'),
  ]);
  const changed = ['CHANGELOG.md', CHART_FILE, ...packages];
  const faults = versionFaults(root, `v${version}`);
  if (faults.length > 0) throw new Error(`${changed.join(', ')} changed. Still to do: ${faults.join('; ')}`);
  return changed;
}
