// Finds the browser of the tests, and installs it with the system's package manager when it may (as root). Node 20, no
// dependencies: runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The path of a Chromium, or null; the reason is printed when it could not be installed. */
export function ensureChromium({ install }) {
  const found = findChromium();
  if (found !== null || !install) return found;
  if (process.getuid?.() !== 0 || !commandExists('apt-get')) {
    console.error(
      'browser tests: no Chromium found, and it is installed only as root on a system with apt-get; set CHROMIUM to its path',
    );
    return null;
  }
  console.error('installing Chromium with apt-get …');
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', 'chromium'],
  ]) {
    spawnSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  }
  return findChromium();
}

function findChromium() {
  if (process.env.CHROMIUM) return existsSync(process.env.CHROMIUM) ? process.env.CHROMIUM : null;
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of NAMES) if (existsSync(join(folder, name))) return join(folder, name);
  }
  return null;
}

const commandExists = (name) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));
