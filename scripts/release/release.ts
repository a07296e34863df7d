import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readScriptOptions } from '../script-options.ts';
import { packPackage } from './bill-of-materials.ts';
import { chartArchive } from './chart-archive.ts';
import { dashboardsBundle } from './dashboards-bundle.ts';
import { buildPlugin, pluginArchive } from './plugin-archive.ts';
import { dateOfRelease, NOTES_FILE, releaseNotes } from './release-notes.ts';
import { prepareVersion, readVersion, versionFaults } from './versions.ts';

const CHECKSUMS_FILE = 'SHA256SUMS';

/** Writes the checksums of all files in the folder, in the form that `sha256sum -c` reads. */
function writeChecksums(folder: string): void {
  const files = readdirSync(folder).filter((file) => file !== CHECKSUMS_FILE);
  const line = (file: string): string =>
    `${createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex')}  ${file}\n`;
  writeFileSync(join(folder, CHECKSUMS_FILE), files.sort().map(line).join(''));
}

/**
 * `npm run release -- --dry-run`: makes everything that a release publishes, in `release/`. Nothing is published from here:
 * the release workflow makes the same files and publishes them when the tag of a version is pushed.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const KINDS = ['package', 'plugin', 'chart', 'dashboards'] as const;
type Kind = (typeof KINDS)[number];

const USAGE = `Makes what a release publishes, or prepares its version.

  npm run release -- --prepare 0.2.0   write the version and its date into the packages and CHANGELOG.md
  npm run release -- --dry-run         make all files in release/, and publish nothing

  --dry-run          npm package, plugin, Helm chart, dashboards, bills of materials, checksums and notes
  --prepare VERSION  change only the files that name the version; commit and tag them yourself
  --only LIST        some of ${KINDS.join(',')} (all of them)
  --out FOLDER       where the files go (release)
  --tag TAG          refuse if the tag is not v and the version, or if CHANGELOG.md has no date for the version

The plugin is signed if GRAFANA_ACCESS_POLICY_TOKEN is set; a private plugin also requires GRAFANA_PLUGIN_ROOT_URLS, the
addresses of its Grafana servers, separated by commas. SOURCE_DATE_EPOCH replaces the time of the last commit.
`;

type Task =
  | { readonly task: 'prepare'; readonly version: string }
  | { readonly task: 'make'; readonly kinds: ReadonlySet<Kind>; readonly folder: string; readonly tag: string | null };

const task = readScriptOptions(
  {
    usage: USAGE,
    options: {
      'dry-run': { type: 'boolean', default: false },
      prepare: { type: 'string' },
      only: { type: 'string', default: KINDS.join(',') },
      out: { type: 'string', default: 'release' },
      tag: { type: 'string' },
    },
  },
  (values, positionals): Task => {
    if (positionals.length > 0) throw new Error(`unexpected argument '${positionals.join(' ')}'`);
    if (values.prepare !== undefined) return { task: 'prepare', version: semanticVersion(values.prepare) };
    if (!values['dry-run']) throw new Error('--dry-run or --prepare is required: this command publishes nothing');
    return {
      task: 'make',
      kinds: new Set(values.only.split(',').map(kind)),
      folder: ownFolder(resolve(values.out)),
      tag: values.tag ?? null,
    };
  },
);

try {
  if (task.task === 'prepare') {
    const changed = prepareVersion(ROOT, task.version);
    console.log(`${changed.join('\n')}\n\nReview and commit these files, then: git tag v${task.version}`);
  } else {
    await make(task.folder, task.kinds, task.tag);
  }
} catch (error) {
  console.error(`release: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function make(folder: string, kinds: ReadonlySet<Kind>, tag: string | null): Promise<void> {
  const faults = versionFaults(ROOT, tag);
  if (faults.length > 0) throw new Error(faults.join('\nrelease: '));
  const version = readVersion(ROOT);
  const date = dateOfRelease(ROOT);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const remarks: string[] = [];
  if (kinds.has('package')) packPackage(ROOT, folder, version);
  if (kinds.has('plugin')) {
    buildPlugin(ROOT);
    remarks.push(pluginArchive({ root: ROOT, folder, date }).remark);
  }
  if (kinds.has('chart')) await chartArchive({ folder, version, date });
  if (kinds.has('dashboards')) dashboardsBundle({ root: ROOT, folder, version, date });
  writeChecksums(folder);
  writeFileSync(join(folder, NOTES_FILE), releaseNotes(ROOT, version));
  const files = readdirSync(folder).map((file) => [file, statSync(join(folder, file)).size] as const);
  const width = Math.max(...files.map(([file]) => file.length));
  for (const [file, bytes] of files) console.log(`${file.padEnd(width)}  ${(bytes / 1000).toFixed(1).padStart(8)} kB`);
  console.log(['', ...remarks, `Check the files: cd ${folder} && sha256sum -c ${CHECKSUMS_FILE}`].join('\n'));
  console.log('The image for amd64 and arm64 is built by the release workflow. Nothing was published.');
}

function kind(name: string): Kind {
  const found = KINDS.find((known) => known === name.trim());
  if (found === undefined) throw new Error(`--only '${name}' must be some of ${KINDS.join(', ')}`);
  return found;
}

function semanticVersion(text: string): string {
  if (!/^\d+\.\d+\.\d+$/.test(text)) throw new Error(`--prepare '${text}' must be a version such as 0.2.0`);
  return text;
}

/** The folder is emptied: it may only hold what an earlier call made. */
function ownFolder(folder: string): string {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  if (files.length > 0 && !files.includes(CHECKSUMS_FILE)) {
    throw new Error(`--out '${folder}' has files that are not of a release: name an empty folder`);
  }
  return folder;
}
