// Finds the S3 server of the tests, or builds it with Go into the project's cache. Without dependencies, so that it runs before
// `npm install` and on Node 20.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = 'v1.8.0';
const MODULE = 'github.com/versity/versitygw/cmd/versitygw';
const CACHE = fileURLToPath(new URL('../.cache/versitygw', import.meta.url));
const NAME = 'versitygw';

/**
 * The path of the program: of VERSITYGW_BIN, on the PATH, or in the cache; null, with a reason on stderr, if there is none.
 * @param {{install: boolean}} options
 * @returns {string | null}
 */
export function ensureVersitygw({ install }) {
  const found = findVersitygw();
  if (found !== null || !install) return found;
  console.error(`building versitygw ${VERSION}, the S3 server of the tests, with Go …`);
  // Its 390 packages are compiled once: without optimization this takes two thirds of the time.
  const { status, error } = spawnSync(
    'go',
    ['install', '-gcflags=all=-N -l', '-ldflags=-s -w', `${MODULE}@${VERSION}`],
    {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, GOBIN: CACHE, GOFLAGS: '' },
    },
  );
  if (status === 0) return findVersitygw();
  console.error(
    `install: the tests of object storage have no S3 server: versitygw could not be built with Go${error ? ` (${error.message})` : ''}; install Go, or set VERSITYGW_BIN to its path`,
  );
  return null;
}

function findVersitygw() {
  const own = process.env.VERSITYGW_BIN;
  if (own) return existsSync(own) ? own : null;
  const folders = [...(process.env.PATH ?? '').split(delimiter), CACHE];
  return folders.map((folder) => join(folder, NAME)).find((path) => existsSync(path)) ?? null;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = ensureVersitygw({ install: true });
  if (path === null) process.exit(1);
  console.log(path);
}
