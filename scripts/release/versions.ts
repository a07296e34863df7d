import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newestSection } from './changelog.ts';

export const PACKAGE_FOLDERS = ['.', 'grafana-plugin'];

/** The chart and the image that it runs have the version of the package. */
export const CHART_FILE = 'deploy/helm/llmbench/Chart.yaml';

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
