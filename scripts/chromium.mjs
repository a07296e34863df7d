// Finds the browser of the tests, and installs it with the system's package manager when it may (as root). Node 20, no
// dependencies: runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const ON_MACOS = ['Chromium', 'Google Chrome'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);

/**
 * The path of a Chromium or Chrome: CHROMIUM, on the PATH, or of macOS; null if there is none, or if it could not be installed,
 * whose reason is printed.
 * @param {{install: boolean}} options
 * @returns {string | null}
 */
export function ensureChromium({ install }) {
  const found = findChromium();
  if (found !== null || !install) return found;
  if (process.env.CHROMIUM) return missing(`CHROMIUM is ${process.env.CHROMIUM}, which does not exist`);
  if (process.getuid?.() !== 0 || !isOnPath('apt-get')) {
    return missing(
      'no Chromium is found, and it is installed only as root with apt-get; install it, or set CHROMIUM to its path',
    );
  }
  console.error('installing Chromium with apt-get …');
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', 'chromium'],
  ]) {
    const { status } = spawnSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (status !== 0) return missing(`apt-get ${args[0]} failed; install Chromium, or set CHROMIUM to its path`);
  }
  return findChromium() ?? missing('apt-get installed no Chromium; set CHROMIUM to the path of one');
}

/** @param {string} reason */
function missing(reason) {
  console.error(`install: the browser tests have no browser: ${reason}`);
  return null;
}

function findChromium() {
  if (process.env.CHROMIUM) return existsSync(process.env.CHROMIUM) ? process.env.CHROMIUM : null;
  const onPath = foldersOfPath().flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...onPath, ...ON_MACOS].find((path) => existsSync(path)) ?? null;
}

const foldersOfPath = () => (process.env.PATH ?? '').split(delimiter);
/** @param {string} name */
const isOnPath = (name) => foldersOfPath().some((folder) => existsSync(join(folder, name)));
