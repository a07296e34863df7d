import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withRelease } from './changelog.ts';
import { CHART_FILE, PACKAGE_FOLDERS, readVersion, versionFaults } from './versions.ts';

/** Writes a version into every file that names it, and today into CHANGELOG.md. Returns the changed files. */
export function prepareVersion(root: string, version: string): readonly string[] {
  const before = readVersion(root);
  if (compare(version, before) < 0) throw new Error(`version ${version} is below ${before} of package.json`);
  const today = new Date().toISOString().slice(0, 10);
  const changes = new Map([
    ['CHANGELOG.md', withRelease(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version, today)],
    [
      CHART_FILE,
      readFileSync(join(root, CHART_FILE), 'utf8').replace(/^(version|appVersion): .*$/gm, `$1: ${version}`),
    ],
    ...PACKAGE_FOLDERS.flatMap((folder) =>
      ['package.json', 'package-lock.json'].map((name): [string, string] => {
        const file = join(folder, name);
        return [file, withVersion(readFileSync(join(root, file), 'utf8'), before, version)];
      }),
    ),
  ]);
  for (const [file, text] of changes) writeFileSync(join(root, file), text);
  const faults = versionFaults(root, `v${version}`);
  if (faults.length > 0)
    throw new Error(`${[...changes.keys()].join(', ')} changed. Still to do: ${faults.join('; ')}`);
  return [...changes.keys()];
}

/** The version of the package itself: in package.json once, in a lock file twice before all other packages. */
function withVersion(json: string, before: string, version: string): string {
  const [head = '', ...rest] = json.split(/(?=\n {4}"node_modules\/)/);
  return [head.replaceAll(`"version": "${before}"`, `"version": "${version}"`), ...rest].join('');
}

function compare(a: string, b: string): number {
  const numbers = (version: string): number[] => version.split('.').map(Number);
  const [left, right] = [numbers(a), numbers(b)];
  return left.map((part, i) => part - (right[i] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
