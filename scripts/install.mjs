// Installs what `npm start` needs, which is a small part; with --plugin or --docs also the packages for development and those of
// the plugin or of the site, with --for-tests all that `npm test` needs.
// Uses no dependency and nothing newer than Node 20, because it runs before anything is installed. Takes well under a second
// when everything is installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const ownNode = join(root, 'node_modules/.bin/node');

const forTests = process.argv.includes('--for-tests');
const plugin = forTests || process.argv.includes('--plugin');
const docs = forTests || process.argv.includes('--docs');
if (plugin || docs) {
  const wanted = [root, plugin && join(root, 'grafana-plugin'), docs && join(root, 'docs')];
  await Promise.all(wanted.filter(Boolean).map(installPackages));
  const version = versionOf(ownNode);
  if (!version?.startsWith('v24.')) {
    fail(
      `node_modules/.bin/node is ${version ?? 'missing'} and should be 24: remove node_modules and run the command again`,
    );
  }
} else {
  await installForStart();
}
if (forTests) {
  const { ensureAlertmanager, ensurePrometheus, findPrometheus3 } = await import('../prometheus/programs.mjs');
  await ensurePrometheus({ install: true });
  await ensureAlertmanager({ install: true });
  await installPrometheus3(findPrometheus3);
  const { ensureVersitygw } = await import('./versitygw.mjs');
  ensureVersitygw({ install: true });
  const { ensureChartProgram } = await import('./kubernetes/chart-program.mjs');
  ensureChartProgram({ install: true });
  const { ensureChromium } = await import('./chromium.mjs');
  ensureChromium({ install: true });
}

/** The release beside the system's own that rules, verdicts and remote write are tested with. */
async function installPrometheus3(find) {
  if ((await find()) !== null) return;
  if (process.platform === 'linux' && process.env.PROMETHEUS_3_BIN === undefined) {
    const script = join(root, 'scripts/real-servers/prometheus-3.sh');
    if (spawnSync('bash', [script], { stdio: ['ignore', 2, 2] }).status === 0) return;
  }
  console.error(
    'install: the tests of native histograms have no Prometheus 3: install it (https://prometheus.io/download) and set PROMETHEUS_3_BIN to the folder of prometheus and promtool',
  );
}

/**
 * The packages that the program itself needs and, where this Node is too old for it, the locked Node 24: 80 packages instead
 * of 580. Does nothing when they, or all packages, are installed.
 */
async function installForStart() {
  const stamp = join(root, 'node_modules/.llmbench-installed');
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : null;
  const complete = fingerprint(root);
  const partial = `${complete} without development`;
  if (installed === complete || (installed === partial && (isNodeNewEnough() || versionOf(ownNode) !== undefined))) {
    return;
  }
  console.error('installing the packages of llmbench …');
  const [node] = await Promise.all([
    isNodeNewEnough() ? null : installNode(join(root, '.cache/node')),
    npm(root, ['ci', '--omit=dev']),
  ]);
  if (node !== null) {
    mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
    rmSync(ownNode, { force: true });
    symlinkSync(node, ownNode);
    if (versionOf(ownNode) === undefined) fail('Node 24 could not be installed: install Node 22.19 or newer');
  }
  writeFileSync(stamp, partial);
}

/** As `engines` of package.json requires. */
function isNodeNewEnough() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 19);
}

/** The package of this platform, which the package `node` would install by another npm; returns the path of the program. */
async function installNode(folder) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { version } = packages['node_modules/node'];
  const { platform, arch } = process;
  const name = `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${arch}`;
  const program = join(folder, 'node_modules', name, 'bin/node');
  if (versionOf(program) !== `v${version}`) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    await npm(folder, ['install', '--no-package-lock', `${name}@${version}`]);
  }
  return program;
}

/** Undefined if it is missing or does not run. */
function versionOf(node) {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim();
}

/**
 * `npm ci`, so that everyone has the locked versions; `npm install` where there is no lock file. Does nothing when the last
 * installation was made from the same package.json and lock file.
 */
async function installPackages(folder) {
  const stamp = join(folder, 'node_modules/.llmbench-installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint(folder)) return;
  console.error(`installing the packages of ${folder === root ? 'llmbench' : relative(root, folder)} …`);
  await npm(folder, [existsSync(join(folder, 'package-lock.json')) ? 'ci' : 'install']);
  writeFileSync(stamp, fingerprint(folder));
}

/** Runs npm in a folder, and ends this program if it fails. */
async function npm(folder, args) {
  const command = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const [program, ...words] = [...command, ...args, '--no-audit', '--no-fund', '--loglevel=error'];
  const child = spawn(program, words, { cwd: folder, stdio: ['ignore', 2, 2] });
  const problem = await new Promise((resolve) => {
    child.once('error', (error) => resolve(` (${error.message})`));
    child.once('exit', (code) => resolve(code === 0 ? null : ''));
  });
  if (problem !== null) fail(`npm ${args.join(' ')} failed in ${folder}${problem}; see above`);
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
