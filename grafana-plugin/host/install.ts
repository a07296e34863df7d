import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { grafanaVersion, PACKAGES_ROOT } from './packages.ts';

/** Installs the packages of the host's line, unless they are there in the wanted version. Throws when npm fails. */
export function installPackages(): void {
  const { dependencies } = JSON.parse(readFileSync(join(PACKAGES_ROOT, 'package.json'), 'utf8'));
  const isThere = existsSync(join(PACKAGES_ROOT, 'node_modules/.package-lock.json'));
  if (isThere && grafanaVersion() === dependencies['@grafana/data']) {
    return;
  }
  console.error(`installing the packages of Grafana ${dependencies['@grafana/data']} …`);
  const flags = ['--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, error } = spawnSync('npm', ['install', ...flags], { cwd: PACKAGES_ROOT, stdio: 'inherit' });
  if (status !== 0) {
    throw error ?? new Error(`npm install ended with ${status} in ${PACKAGES_ROOT}`);
  }
}
