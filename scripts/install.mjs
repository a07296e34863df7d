// Installs what `npm start` needs; with --plugin or --docs also the packages of the plugin or of the site, with --for-tests all
// that `npm test` needs.
// Uses no dependency and nothing newer than Node 20, because it runs before anything is installed. Takes well under a second
// when everything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

installPackages(root);
const version = spawnSync(join(root, 'node_modules/.bin/node'), ['--version'], { encoding: 'utf8' }).stdout?.trim();
if (!version?.startsWith('v24.')) {
  fail(
    `node_modules/.bin/node is ${version ?? 'missing'} and should be 24: remove node_modules and run the command again`,
  );
}

const forTests = process.argv.includes('--for-tests');
if (forTests || process.argv.includes('--plugin')) installPackages(join(root, 'grafana-plugin'));
if (forTests || process.argv.includes('--docs')) installPackages(join(root, 'docs'));
if (forTests) {
  const { ensureAlertmanager, ensurePrometheus } = await import('../prometheus/programs.mjs');
  await ensurePrometheus({ install: true });
  await ensureAlertmanager({ install: true });
  installPrometheus3();
  const { ensureVersitygw } = await import('./versitygw.mjs');
  ensureVersitygw({ install: true });
  const { ensureChartProgram } = await import('./kubernetes/chart-program.mjs');
  ensureChartProgram({ install: true });
  const { ensureChromium } = await import('./chromium.mjs');
  ensureChromium({ install: true });
}

/** The release beside the system's own that rules, verdicts and remote write are tested with. Its tests fail without it. */
function installPrometheus3() {
  if (process.env.PROMETHEUS_3_BIN !== undefined || process.platform !== 'linux') return;
  const script = join(root, 'scripts/real-servers/prometheus-3.sh');
  const { status } = spawnSync('bash', [script], { stdio: ['ignore', 2, 2] });
  if (status !== 0) console.error('install: Prometheus 3 is not available; tests that require it fail');
}

/**
 * `npm ci`, so that everyone has the locked versions; `npm install` where there is no lock file. Does nothing when the last
 * installation was made from the same package.json and lock file.
 */
function installPackages(folder) {
  const stamp = join(folder, 'node_modules/.llmbench-installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint(folder)) return;
  console.error(`installing the packages of ${folder === root ? 'llmbench' : relative(root, folder)} …`);
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const command = existsSync(join(folder, 'package-lock.json')) ? 'ci' : 'install';
  const install = [...npm, command, '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, error } = spawnSync(install[0], install.slice(1), { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) fail(`npm ${command} failed in ${folder}${error ? ` (${error.message})` : ''}; see above`);
  writeFileSync(stamp, fingerprint(folder));
}

function fingerprint(folder) {
  const hash = createHash('sha256');
  for (const file of ['package.json', 'package-lock.json']) {
    const path = join(folder, file);
    hash.update(existsSync(path) ? readFileSync(path) : 'none');
  }
  return hash.digest('hex');
}

function fail(message) {
  console.error(`install: ${message}`);
  process.exit(1);
}
