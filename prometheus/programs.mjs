// Finds Prometheus and promtool, and Alertmanager and amtool, or unpacks them from the system's archive into the project's cache: nothing is
// installed, no service is started. Without dependencies, so that it runs before `npm install` and on Node 20.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const executeFile = promisify(execFile);

/**
 * A Prometheus server and its tool, as absolute paths, with the server's version such as `2.42.0`.
 * @typedef {{prometheus: string, promtool: string, version: string}} PrometheusPrograms
 */

/**
 * An Alertmanager and its tool, as absolute paths, with the server's version such as `0.25.0`.
 * @typedef {{alertmanager: string, amtool: string, version: string}} AlertmanagerPrograms
 */

/**
 * The environment is named, because the PATH in it decides which programs are found.
 * @param {string} file
 * @param {string[]} args
 * @param {{cwd?: string, timeout: number}} options
 */
const run = (file, args, options) => executeFile(file, args, { ...options, env: process.env });
const PROMETHEUS_CACHE = fileURLToPath(new URL('../.cache/prometheus', import.meta.url));
const PROMETHEUS_3_CACHE = fileURLToPath(new URL('../.cache/prometheus-3/usr/bin', import.meta.url));
const ALERTMANAGER_CACHE = fileURLToPath(new URL('../.cache/alertmanager', import.meta.url));
/** Where the package has its programs. */
const BIN = 'usr/bin';
const TIMEOUT_MS = 180_000;

const foldersOfPath = () => (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');

/** @param {string} file */
async function isExecutable(file) {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * The first program with one of these names, as a shell would find it.
 * @param {string[]} folders
 * @param {string[]} names
 * @returns {Promise<string | null>}
 */
async function firstIn(folders, names) {
  for (const name of names) {
    for (const folder of folders) {
      const file = resolve(folder, name);
      if (await isExecutable(file)) return file;
    }
  }
  return null;
}

/**
 * @param {string[]} folders
 * @returns {Promise<PrometheusPrograms | null>}
 */
async function prometheusIn(folders) {
  const prometheus = await firstIn(folders, ['prometheus']);
  const promtool = await firstIn(folders, ['promtool']);
  if (prometheus === null || promtool === null) return null;
  const version = await versionOf(prometheus, 'prometheus');
  return version === null ? null : { prometheus, promtool, version };
}

/**
 * @param {string[]} folders
 * @returns {Promise<AlertmanagerPrograms | null>}
 */
async function alertmanagerIn(folders) {
  // Debian's package has its own name for the program.
  const alertmanager = await firstIn(folders, ['alertmanager', 'prometheus-alertmanager']);
  const amtool = await firstIn(folders, ['amtool']);
  if (alertmanager === null || amtool === null) return null;
  const version = await versionOf(alertmanager, 'alertmanager');
  return version === null ? null : { alertmanager, amtool, version };
}

/**
 * The version that the program reports, or null when it is another program of that name or does not start here.
 * @param {string} program
 * @param {string} name
 */
async function versionOf(program, name) {
  try {
    const { stdout, stderr } = await run(program, ['--version'], { timeout: 10_000 });
    return new RegExp(`^${name}, version (\\d+\\.\\d+\\.\\d+)`, 'm').exec(stdout + stderr)?.[1] ?? null;
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
 * A package of the archive, and the program in it.
 * @typedef {{package: string, program: string}} ArchivedProgram
 */

/**
 * Programs that are found or unpacked together.
 * @template {object} Programs
 * @typedef {{
 *   name: string,
 *   remedy: string,
 *   wanted: ArchivedProgram[],
 *   relocate?: (root: string) => Promise<void>,
 *   findIn: (folders: string[]) => Promise<Programs | null>,
 * }} Ensured
 */

// Debian 12 has promtool inside `prometheus`, later releases in a package of its own.
const PROMETHEUS_PACKAGES = ['prometheus', 'promtool'].map((name) => ({ package: name, program: name }));
const ALERTMANAGER_PACKAGES = [{ package: 'prometheus-alertmanager', program: 'prometheus-alertmanager' }];

/**
 * @param {ArchivedProgram[]} wanted
 * @param {string} packages where the .deb files are downloaded to
 * @param {string} root where they are unpacked
 */
async function unpack(wanted, packages, root) {
  for (const { package: name, program } of wanted) {
    if (await isExecutable(join(root, BIN, program))) continue;
    await download(name, packages);
    const file = (await readdir(packages)).find((entry) => entry.startsWith(`${name}_`));
    if (file === undefined) throw new Error(`apt-get download ${name} brought no package`);
    await run('dpkg-deb', ['-x', join(packages, file), root], { timeout: TIMEOUT_MS });
  }
}

/**
 * Debian's Alertmanager reads its templates from an absolute path. Of the same length and relative, the path is found from the
 * folder where the package is unpacked, which therefore has to be the working directory.
 * @param {string} root
 */
async function relocateAlertmanager(root) {
  const file = join(root, BIN, 'prometheus-alertmanager');
  const program = await readFile(file, 'latin1');
  const folder = '/usr/share/prometheus/alertmanager';
  await writeFile(file, program.replaceAll(folder, `${folder.slice(1)}/`), 'latin1');
}

/**
 * Unpacks aside and renames, so that neither a second process nor an interruption leaves half a program behind.
 * @param {Pick<Ensured<object>, 'wanted' | 'relocate' | 'findIn'>} what
 * @param {string} cacheFolder
 */
async function unpackIntoCache({ wanted, relocate, findIn }, cacheFolder) {
  await mkdir(dirname(cacheFolder), { recursive: true });
  const aside = await mkdtemp(`${cacheFolder}-unpacking-`);
  try {
    const packages = join(aside, 'packages');
    const root = join(aside, 'root');
    await mkdir(packages);
    await mkdir(root);
    await unpack(wanted, packages, root);
    await relocate?.(root);
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
 * @template {object} Programs
 * @param {Ensured<Programs>} what
 * @param {{install: boolean, cacheFolder: string, report?: (line: string) => void}} options
 * @returns {Promise<Programs | null>}
 */
async function ensure(what, { install, cacheFolder, report = console.error }) {
  const { name, remedy, findIn } = what;
  const cached = join(cacheFolder, BIN);
  const found = (await findIn(foldersOfPath())) ?? (await findIn([cached]));
  if (found !== null || !install) return found;
  try {
    await unpackIntoCache(what, cacheFolder);
  } catch (error) {
    report(`${name} cannot be unpacked: ${reasonOf(error)}. ${remedy}`);
    return null;
  }
  const unpacked = await findIn([cached]);
  if (unpacked === null) report(`${name} was unpacked to ${cached} and does not start on this machine.`);
  return unpacked;
}

/**
 * Prometheus and promtool from PATH, else from the project's cache, else (with `install`) unpacked into that cache
 * from the archive that the machine's apt uses. When that is impossible, `report` gets the reason in one line.
 *
 * @param {{install: boolean, cacheFolder?: string, report?: (line: string) => void}} options
 * @returns {Promise<PrometheusPrograms | null>}
 */
export async function ensurePrometheus({ cacheFolder = PROMETHEUS_CACHE, ...options }) {
  const remedy = 'Install it (https://prometheus.io/download) so that prometheus and promtool are on the PATH.';
  const what = { name: 'Prometheus', remedy, wanted: PROMETHEUS_PACKAGES, findIn: prometheusIn };
  return ensure(what, { ...options, cacheFolder });
}

/**
 * A Prometheus 3 and its promtool: in the folder PROMETHEUS_3_BIN, where `scripts/real-servers/prometheus-3.sh` puts them, or on
 * the PATH.
 *
 * @returns {Promise<PrometheusPrograms | null>}
 */
export async function findPrometheus3() {
  const named = process.env.PROMETHEUS_3_BIN;
  const found = await prometheusIn([named ?? PROMETHEUS_3_CACHE]);
  if (found !== null || named !== undefined) return found;
  const onPath = await prometheusIn(foldersOfPath());
  return onPath !== null && Number(onPath.version.split('.')[0]) >= 3 ? onPath : null;
}

/**
 * The same for Alertmanager and amtool.
 *
 * @param {{install: boolean, cacheFolder?: string, report?: (line: string) => void}} options
 * @returns {Promise<AlertmanagerPrograms | null>}
 */
export async function ensureAlertmanager({ cacheFolder = ALERTMANAGER_CACHE, ...options }) {
  const remedy = 'Install it (https://prometheus.io/download) so that alertmanager and amtool are on the PATH.';
  const what = {
    ...{ name: 'Alertmanager', remedy, wanted: ALERTMANAGER_PACKAGES },
    ...{ relocate: relocateAlertmanager, findIn: alertmanagerIn },
  };
  return ensure(what, { ...options, cacheFolder });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const prometheus = await ensurePrometheus({ install: true });
  const alertmanager = await ensureAlertmanager({ install: true });
  if (prometheus === null || alertmanager === null) process.exitCode = 1;
  if (prometheus) console.log(`prometheus ${prometheus.version}\n${prometheus.prometheus}\n${prometheus.promtool}`);
  if (alertmanager)
    console.log(`alertmanager ${alertmanager.version}\n${alertmanager.alertmanager}\n${alertmanager.amtool}`);
}
