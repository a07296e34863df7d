import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { CHART, fillChart } from '../kubernetes/chart-files.ts';
import { readScriptOptions } from '../script-options.ts';
import { packPackage } from './bill-of-materials.ts';
import { dashboardsBundle } from './dashboards-bundle.ts';
import { buildPlugin, pluginArchive } from './plugin-archive.ts';
import { newestSection, prepareVersion, readVersion, versionFaults } from './versions.ts';

const CHECKSUMS_FILE = 'SHA256SUMS';
const NOTES_FILE = 'NOTES.md';

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
  if (kinds.has('chart')) await chartArchive(folder, version, date);
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

/** Packs the chart with its dashboards and rules as `helm package` does, with the same bytes for the same files. */
async function chartArchive(folder: string, version: string, date: Date): Promise<void> {
  const staging = mkdtempSync(join(tmpdir(), 'llmbench-chart-'));
  try {
    const chart = join(staging, 'llmbench');
    cpSync(CHART, chart, { recursive: true });
    await fillChart(chart);
    const same = ['--sort=name', `--mtime=@${date.getTime() / 1000}`, '--owner=0', '--group=0', '--numeric-owner'];
    const tar = execFileSync('tar', [...same, '--mode=u=rwX,go=rX', '--format=ustar', '-cf', '-', 'llmbench'], {
      cwd: staging,
      maxBuffer: 1 << 28,
    });
    writeFileSync(join(folder, `llmbench-${version}.tgz`), gzipSync(tar, { level: 9 }));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/**
 * The time that archives and plugin.json state: that of the last commit, or SOURCE_DATE_EPOCH, so that two builds of one commit
 * are equal.
 */
function dateOfRelease(root: string): Date {
  const { SOURCE_DATE_EPOCH: given } = process.env;
  const seconds = given ?? git(root, 'log', '-1', '--format=%ct');
  if (!/^\d{1,11}$/.test(seconds)) throw new Error(`SOURCE_DATE_EPOCH '${seconds}' must be seconds since 1970`);
  return new Date(Number(seconds) * 1000);
}

/** The newest tag of a version below `version` that is in the history; null if there is none. */
function previousTag(root: string, version: string): string | null {
  const tags = git(root, 'tag', '--merged', 'HEAD', '--sort=-version:refname', '--list', 'v*.*.*').split('\n');
  return tags.find((tag) => tag !== '' && tag !== `v${version}`) ?? null;
}

/** Subjects of the commits after a tag, the newest first; of all commits without one. */
function subjectsSince(root: string, tag: string | null): readonly string[] {
  const range = tag === null ? 'HEAD' : `${tag}..HEAD`;
  const lines = git(root, 'log', '--no-merges', '--format=%s', range).split('\n');
  return lines.filter((subject) => subject !== '');
}

/** The notes of a version: its section of the changelog, and the commits since the previous version. */
function releaseNotes(root: string, version: string): string {
  const { text } = newestSection(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'));
  const tag = previousTag(root, version);
  const subjects = subjectsSince(root, tag);
  // The commits of a first version are the whole history.
  const commits =
    tag === null
      ? `The first version, of ${subjects.length} commits.`
      : `Commits since ${tag}\n\n${subjects.map((subject) => `- ${subject}`).join('\n')}`;
  return `${text}\n\n${commits}\n`;
}
