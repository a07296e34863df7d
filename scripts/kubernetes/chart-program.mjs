// Finds the program that tests the Helm chart, or builds it with Go into the project's cache. Without dependencies, so that it
// runs before `npm install` and on Node 20.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('chart', import.meta.url));
const CACHE = fileURLToPath(new URL('../../.cache/chart', import.meta.url));

/**
 * The path of the program for these sources; null, with a reason on stderr, if it is missing.
 * @param {{install: boolean}} options
 * @returns {string | null}
 */
export function ensureChartProgram({ install }) {
  const path = join(CACHE, `chart-${hashOfSource()}`);
  if (existsSync(path)) return path;
  if (!install) return null;
  console.error('building the test of the Helm chart, with Helm and the types of Kubernetes, with Go …');
  // Without optimization this takes half of the time.
  const { status, error } = spawnSync(
    'go',
    ['build', '-mod=readonly', '-buildvcs=false', '-gcflags=all=-N -l', '-ldflags=-s -w', '-o', path, '.'],
    { cwd: SOURCE, stdio: ['ignore', 2, 2], env: { ...process.env, GOFLAGS: '' } },
  );
  if (status === 0) return path;
  console.error(
    `install: the tests of the Helm chart have no Helm: it could not be built with Go${error ? ` (${error.message})` : ''}; install Go`,
  );
  return null;
}

function hashOfSource() {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(SOURCE, name)));
  return hash.digest('hex').slice(0, 16);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = ensureChartProgram({ install: true });
  if (path === null) process.exit(1);
  console.log(path);
}
