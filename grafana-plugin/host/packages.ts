import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
/** The line of Grafana whose packages make the host, such as 13.2; without it those that the plugin is built with. */
export const GRAFANA_LINE = process.env['GRAFANA_LINE'];

/** The folder whose `node_modules` has the host's packages. */
export const PACKAGES_ROOT = GRAFANA_LINE ? join(here, `grafana-${GRAFANA_LINE}`) : join(here, '..');

/** The folder of a package of the host. Those that are independent of Grafana's version come with the plugin. */
export function packageFolder(name: string): string {
  const own = join(PACKAGES_ROOT, 'node_modules', name);
  return existsSync(own) ? own : join(here, '../node_modules', name);
}

/** A package that @grafana/ui needs, in the version that it resolves. */
export function packageOfUi(name: string): string {
  const nested = join(packageFolder('@grafana/ui'), 'node_modules', name);
  return existsSync(nested) ? nested : packageFolder(name);
}

/** The version of Grafana that the host's packages are of. */
export function grafanaVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageFolder('@grafana/data'), 'package.json'), 'utf8'));
  return version;
}

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
