import { writeFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zipSync, type Zippable } from 'fflate';
import { writeBillOfMaterials } from './bill-of-materials.ts';

/** Content of an archive by path. */
export type Files = ReadonlyMap<string, Uint8Array | string>;

/**
 * Writes a zip whose bytes depend on nothing but its files and the date: sorted paths, one time, equal permissions on any
 * system and in any time zone.
 */
export function writeZip(path: string, files: Files, date: Date): void {
  // A zip states local time without a zone: the UTC time of the date, wherever it is written.
  const mtime = new Date(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate(), 0, 0, 0);
  const content: Zippable = {};
  for (const [name, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    content[name] = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  }
  writeFileSync(path, zipSync(content, { level: 9, mtime, os: 3, attrs: 0o100644 << 16 }));
}

const PLUGIN_ID = 'llmbench-observability-app';
const LICENSES_FILE = 'THIRD_PARTY_LICENSES.txt';

interface Options {
  readonly root: string;
  /** Where the archive goes. */
  readonly folder: string;
  readonly date: Date;
}

interface PluginJson {
  readonly id: string;
  readonly info: { readonly version: string; updated: string };
}

/** Builds the plugin into `grafana-plugin/dist`. */
export function buildPlugin(root: string): void {
  execFileSync('npm', ['run', '-s', 'build'], { cwd: join(root, 'grafana-plugin'), stdio: ['ignore', 2, 2] });
}

/**
 * Packs the built plugin as Grafana installs it, in a folder that is named by its id, with its bill of materials. Signs it if
 * GRAFANA_ACCESS_POLICY_TOKEN is set.
 */
export function pluginArchive({ root, folder, date }: Options): { readonly file: string; readonly remark: string } {
  const project = join(root, 'grafana-plugin');
  const staging = mkdtempSync(join(tmpdir(), 'llmbench-plugin-'));
  try {
    const plugin = join(staging, PLUGIN_ID);
    cpSync(join(project, 'dist'), plugin, { recursive: true });
    const manifests = setDate(plugin, date.toISOString().slice(0, 10));
    const isSigned = sign(project, plugin);
    const { version } = manifests[0]?.info ?? {};
    if (version === undefined) throw new Error('grafana-plugin/dist has no plugin.json');
    const file = join(folder, `${PLUGIN_ID}-${version}.zip`);
    const paths = filesIn(plugin);
    writeZip(file, new Map(paths.map((path) => [`${PLUGIN_ID}/${path}`, readFileSync(join(plugin, path))])), date);
    writeBillOfMaterials({
      project,
      file: join(folder, `${PLUGIN_ID}-${version}.cdx.json`),
      shipped: bundledPackages(readFileSync(join(plugin, LICENSES_FILE), 'utf8')),
    });
    const allowed = manifests.map(({ id }) => id).join(',');
    const remark = isSigned
      ? 'The plugin is signed.'
      : `The plugin is not signed. Start Grafana with GF_PLUGINS_ALLOW_LOADING_UNSIGNED_PLUGINS=${allowed}`;
    return { file, remark };
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => path.replaceAll('\\', '/'));

/** Sets the date in each plugin.json, which the build sets to today. Returns their content, that of the app first. */
function setDate(plugin: string, updated: string): PluginJson[] {
  const paths = filesIn(plugin).filter((path) => /(^|\/)plugin\.json$/.test(path));
  return paths
    .sort((a, b) => a.split('/').length - b.split('/').length || (a < b ? 1 : -1))
    .map((path) => {
      const json = JSON.parse(readFileSync(join(plugin, path), 'utf8')) as PluginJson;
      json.info.updated = updated;
      writeFileSync(join(plugin, path), `${JSON.stringify(json, null, 2)}\n`);
      return json;
    });
}

/** Adds Grafana's signature to the folder; false without a token. */
function sign(project: string, plugin: string): boolean {
  const { GRAFANA_ACCESS_POLICY_TOKEN: token, GRAFANA_PLUGIN_ROOT_URLS: urls } = process.env;
  if (!token) return false;
  const signer = join(project, 'node_modules/@grafana/sign-plugin/dist/bin/run.js');
  const args = [signer, '--distDir', plugin, ...(urls ? ['--rootUrls', urls] : [])];
  execFileSync(process.execPath, args, { cwd: project, stdio: ['ignore', 2, 2] });
  return true;
}

/** `name version` of what is bundled, as the file of licenses lists it. */
const bundledPackages = (licenses: string): ReadonlySet<string> =>
  new Set(Array.from(licenses.matchAll(/^== (\S+ \S+): /gm), ([, one = '']) => one));
