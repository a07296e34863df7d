// Installs what `npm start` (and, with --for-tests, `npm test`) needs. No dependency and nothing newer than Node 20, since
// it runs before anything is installed. Does nothing in well under a second when everything is there.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

installPackages(root);
const version = spawnSync(join(root, 'node_modules/.bin/node'), ['--version'], { encoding: 'utf8' }).stdout?.trim();
if (!version?.startsWith('v24.')) {
  fail(
    `node_modules/.bin/node is ${version ?? 'missing'} and should be 24: remove node_modules and run the command again`,
  );
}

if (process.argv.includes('--for-tests')) {
  installPackages(join(root, 'grafana-plugin'));
  const { ensurePrometheus } = await import('./prometheus.mjs');
  await ensurePrometheus({ install: true });
  const { ensureChromium } = await import('./chromium.mjs');
  ensureChromium({ install: true });
}

/** `npm install`, unless the lock file is the one that the last install left. */
function installPackages(folder) {
  const stamp = join(folder, 'node_modules/.llmbench-installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint(folder)) return;
  console.error(`installing the packages of ${folder === root ? 'llmbench' : 'grafana-plugin'} …`);
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const install = [...npm, 'install', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, error } = spawnSync(install[0], install.slice(1), { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) fail(`npm install failed in ${folder}${error ? ` (${error.message})` : ''}; see above`);
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
