// Finds Prometheus and promtool, or unpacks them from the system's archive into the project's cache: nothing is
// installed, no service is started. Without dependencies, so that it runs before `npm install` and on Node 20.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const executeFile = promisify(execFile);

/**
 * The environment is named, because the PATH in it decides which programs are found.
 * @param {string} file
 * @param {string[]} args
 * @param {{cwd?: string, timeout: number}} options
 */
const run = (file, args, options) => executeFile(file, args, { ...options, env: process.env });
const CACHE = fileURLToPath(new URL('../.cache/prometheus', import.meta.url));
/** Where the package has its programs. */
const BIN = 'usr/bin';
const TIMEOUT_MS = 180_000;

/** @param {string} file */
async function isExecutable(file) {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * The pair in one folder list: each program is the first of its name, as a shell would find it.
 * @param {string[]} folders
 * @returns {Promise<{prometheus: string, promtool: string, version: string} | null>}
 */
async function findIn(folders) {
  const found = { prometheus: '', promtool: '' };
  for (const name of /** @type {const} */ (['prometheus', 'promtool'])) {
    for (const folder of folders) {
      const file = resolve(folder, name);
      if (!found[name] && (await isExecutable(file))) found[name] = file;
    }
    if (!found[name]) return null;
  }
  const version = await versionOf(found.prometheus);
  return version === null ? null : { ...found, version };
}

/**
 * The version that the program tells, or null when it is another program of that name or does not start here.
 * @param {string} prometheus
 */
async function versionOf(prometheus) {
  try {
    const { stdout, stderr } = await run(prometheus, ['--version'], { timeout: 10_000 });
    return /^prometheus, version (\d+\.\d+\.\d+)/m.exec(stdout + stderr)?.[1] ?? null;
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {string} folder
 */
async function download(name, folder) {
  // The sandbox user of apt may not write into the project; without it, it would warn.
  const options = { cwd: folder, timeout: TIMEOUT_MS };
  const get = (/** @type {string[]} */ ...command) =>
    run('apt-get', ['-qq', '-o', 'APT::Sandbox::User=root', ...command], options);
  try {
    await get('download', name);
  } catch (error) {
    // Lists that are missing or too old: only root may bring new ones.
    if (process.getuid?.() !== 0) throw error;
    await get('update');
    await get('download', name);
  }
}

/**
 * @param {string} packages where the .deb files come to lie
 * @param {string} root where they are unpacked
 */
async function unpack(packages, root) {
  // Debian 12 has promtool inside `prometheus`, later releases in a package of its own.
  for (const name of ['prometheus', 'promtool']) {
    if (await isExecutable(join(root, BIN, name))) continue;
    await download(name, packages);
    const file = (await readdir(packages)).find((entry) => entry.startsWith(`${name}_`));
    if (file === undefined) throw new Error(`apt-get download ${name} brought no package`);
    await run('dpkg-deb', ['-x', join(packages, file), root], { timeout: TIMEOUT_MS });
  }
}

/**
 * Unpacks aside and renames, so that neither a second process nor an interruption leaves half a Prometheus behind.
 * @param {string} cacheFolder
 */
async function unpackIntoCache(cacheFolder) {
  await mkdir(dirname(cacheFolder), { recursive: true });
  const aside = await mkdtemp(`${cacheFolder}-unpacking-`);
  try {
    const packages = join(aside, 'packages');
    const root = join(aside, 'root');
    await mkdir(packages);
    await mkdir(root);
    await unpack(packages, root);
    // Another process that was faster has put the same there; a broken copy is replaced.
    if ((await findIn([join(cacheFolder, BIN)])) !== null) return;
    await rm(cacheFolder, { recursive: true, force: true });
    await rename(root, cacheFolder);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** @param {unknown} error */
function reasonOf(error) {
  const { code, path, stderr, message } = /** @type {NodeJS.ErrnoException & {stderr?: string}} */ (error);
  if (code === 'ENOENT' && path !== undefined) return `there is no ${path} on this machine`;
  return (stderr?.trim() || message || String(error)).split('\n')[0] ?? '';
}

/**
 * Prometheus and promtool from PATH, else from the project's cache, else (with `install`) unpacked into that cache
 * from the archive that the machine's apt uses. When that is impossible, `report` gets the reason in one line.
 *
 * @param {{install: boolean, cacheFolder?: string, report?: (line: string) => void}} options
 * @returns {Promise<{prometheus: string, promtool: string, version: string} | null>}
 */
export async function ensurePrometheus({ install, cacheFolder = CACHE, report = console.error }) {
  const cached = join(cacheFolder, BIN);
  const onPath = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = (await findIn(onPath)) ?? (await findIn([cached]));
  if (found !== null || !install) return found;
  try {
    await unpackIntoCache(cacheFolder);
  } catch (error) {
    report(
      `Prometheus cannot be unpacked: ${reasonOf(error)}. ` +
        'Install it (https://prometheus.io/download) so that prometheus and promtool are on the PATH.',
    );
    return null;
  }
  const unpacked = await findIn([cached]);
  if (unpacked === null) report(`Prometheus was unpacked to ${cached} and does not start on this machine.`);
  return unpacked;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = await ensurePrometheus({ install: true });
  if (found === null) process.exitCode = 1;
  else console.log(`prometheus ${found.version}\n${found.prometheus}\n${found.promtool}`);
}
