import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

interface LockedPackage {
  readonly resolved?: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, LockedPackage>>;

const FOLDERS = ['.', 'docs', 'grafana-plugin'];

function lockedPackages(folder: string): Packages {
  const file = new URL(`../${folder}/package-lock.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { packages: Packages }).packages;
}

/** The key under which Node, and so npm, finds `name` from the package at `from`: the nearest node_modules upwards. */
function resolve(packages: Packages, from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const key = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (Object.hasOwn(packages, key)) return key;
    if (folder === '') return null;
  }
}

test('a dependency is found in the nearest node_modules, nested or not', () => {
  const packages = { 'node_modules/a': {}, 'node_modules/a/node_modules/b': {}, 'node_modules/b': {} };
  expect(resolve(packages, 'node_modules/a', 'b')).toBe('node_modules/a/node_modules/b');
  expect(resolve(packages, 'node_modules/c/node_modules/d', 'b')).toBe('node_modules/b');
  expect(resolve(packages, '', 'a')).toBe('node_modules/a');
  expect(resolve(packages, 'node_modules/a', 'd')).toBeNull();
});

// npm leaves out what the machine that wrote the lock file did not install (npm/cli#4828); `npm ci` then fails.
test.each(FOLDERS)('%s: every optional dependency of a locked package is locked', (folder) => {
  const packages = lockedPackages(folder);
  const missing = Object.entries(packages).flatMap(([key, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => resolve(packages, key, name) === null),
  );
  expect(missing).toEqual([]);
});

test.each([
  ['.', '@duckdb/node-bindings'],
  ['.', '@unrs/resolver-binding'],
  ['grafana-plugin', '@swc/core'],
])('%s: %s is locked for every supported platform', (folder, prefix) => {
  const builds = Object.entries(lockedPackages(folder))
    .filter(([key]) => key.startsWith(`node_modules/${prefix}-`))
    .map(([, locked]) => locked);
  const has = (os: string, cpu: string, libc?: string): boolean =>
    builds.some(
      (build) =>
        build.os?.includes(os) &&
        build.cpu?.includes(cpu) &&
        (libc === undefined || (build.libc ?? [libc]).includes(libc)),
    );
  const platforms: readonly (readonly [string, string, string?])[] = [
    ['linux', 'x64', 'glibc'],
    ['linux', 'x64', 'musl'],
    ['linux', 'arm64', 'glibc'],
    ['linux', 'arm64', 'musl'],
    ['darwin', 'x64'],
    ['darwin', 'arm64'],
    ['win32', 'x64'],
  ];
  expect(platforms.filter((platform) => !has(...platform)).map((platform) => platform.join(' '))).toEqual([]);
});

test.each(FOLDERS)(
  '%s: the lock file names no registry, so that everyone installs from the configured one',
  (folder) => {
    const packages = lockedPackages(folder);
    expect(Object.keys(packages).filter((key) => packages[key]?.resolved !== undefined)).toEqual([]);
  },
);
