import { isInstalled } from '../files/is-installed.ts';
import { isIPv4 } from 'node:net';
import { hostname, networkInterfaces, arch, cpus, release, totalmem, type } from 'node:os';
import type { CommitFacts, Provenance, MachineFacts, CiFacts, GpuFacts } from '../../core/run/provenance.ts';
import type { ProvenanceRequest } from './provenance-request.ts';
import { readServers, type AskedServers, factText, versionText, type InfoSeries } from './read-servers.ts';
import { execFile } from 'node:child_process';
import { rocmCards } from '../servers/local-gpus.ts';

/** Whether the host of a URL is this machine: its loopback interface, its name, or the address of an interface. */
export function isThisMachine(url: string): boolean {
  const host = (URL.parse(url)?.hostname ?? '').replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))) return true;
  if (host === '') return false;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map(({ address }) => address) ?? []);
  return host === hostname().toLowerCase() || own.includes(host);
}

/** What was measured, from where and on whose behalf. Takes a few seconds at most, and never throws. */
export async function readProvenance(
  asked: AskedServers,
  { serverImage, gpuPrice, gpuCount, metadata }: ProvenanceRequest,
  environment: NodeJS.ProcessEnv,
): Promise<Provenance> {
  const { secrets, series } = asked;
  const { ci, commit } = ciJob(environment, secrets);
  const reported = gpusOfExporters(series);
  const isLocal = asked.servers.every(({ origin }) => isThisMachine(origin));
  const [servers, gpus, source_code] = await Promise.all([
    readServers(asked),
    reported.length > 0 || !isLocal ? reported : gpusOfThisMachine(),
    commit === null ? checkedOutCommit(process.cwd()) : ({ commit, dirty: null } satisfies CommitFacts),
  ]);
  const kept = Object.entries(metadata).map(([key, value]) => [key, factText(value, secrets) ?? ''] as const);
  return {
    servers,
    gpus,
    source_code,
    ci,
    server_image: factText(serverImage, secrets),
    gpu_price: gpuPrice,
    gpu_count: gpuCount,
    machine: machineFacts(),
    metadata: Object.fromEntries(kept),
  };
}

/** The commit that is checked out in a folder; null: there is none, or no git. */
export async function checkedOutCommit(folder: string): Promise<CommitFacts | null> {
  const git = (...args: readonly string[]) => programOutput('git', ['-C', folder, ...args]);
  const status = await git('status', '--porcelain=v2', '--branch', '--untracked-files=no');
  const [, known] = /^# branch\.oid (.*)$/m.exec(status ?? '') ?? [];
  // A large working tree may take too long, or have more changes than are read.
  const commit = known ?? (await git('rev-parse', 'HEAD'))?.trim() ?? '';
  return isCommit(commit) ? { commit, dirty: status === null ? null : /^[^#\n]/m.test(status) } : null;
}

/** The machine that this program runs on. */
function machineFacts(): MachineFacts {
  const cores = cpus();
  return {
    cores: cores.length,
    cpu_model: cores[0]?.model.trim() || null,
    memory_bytes: totalmem(),
    kernel: `${type()} ${release()}`,
    architecture: arch(),
    node_version: process.versions.node,
  };
}

interface CiSystem {
  readonly provider: CiFacts['provider'];
  /** The variable that shows that the job runs there. */
  readonly marker: string;
  /** Variables, the first one that is set; all others of the environment are never read. */
  readonly commit: readonly string[];
  readonly repository: readonly string[];
  readonly ref: readonly string[];
  readonly job: readonly string[];
  readonly run: readonly string[];
  readonly url: readonly string[];
}

/** Predefined variables by the documentation of each system. GitHub has none for the address of a run. */
const SYSTEMS: readonly CiSystem[] = [
  {
    ...{ provider: 'github', marker: 'GITHUB_ACTIONS', commit: ['GITHUB_SHA'], repository: ['GITHUB_REPOSITORY'] },
    ...{ ref: ['GITHUB_REF_NAME'], job: ['GITHUB_JOB'], run: ['GITHUB_RUN_ID'], url: [] },
  },
  {
    ...{ provider: 'gitlab', marker: 'GITLAB_CI', commit: ['CI_COMMIT_SHA'], repository: ['CI_PROJECT_PATH'] },
    ...{ ref: ['CI_COMMIT_REF_NAME'], job: ['CI_JOB_NAME'], run: ['CI_PIPELINE_ID'], url: ['CI_JOB_URL'] },
  },
  {
    ...{ provider: 'buildkite', marker: 'BUILDKITE', commit: ['BUILDKITE_COMMIT'] },
    ...{ repository: ['BUILDKITE_PIPELINE_SLUG'], ref: ['BUILDKITE_BRANCH'], job: ['BUILDKITE_LABEL'] },
    ...{ run: ['BUILDKITE_BUILD_NUMBER'], url: ['BUILDKITE_BUILD_URL'] },
  },
  {
    ...{ provider: 'jenkins', marker: 'JENKINS_URL', commit: ['GIT_COMMIT'], repository: [] },
    ...{ ref: ['BRANCH_NAME', 'GIT_BRANCH'], job: ['JOB_NAME'], run: ['BUILD_NUMBER'], url: ['BUILD_URL'] },
  },
];

/** The CI job that this program runs in, and the commit that it names; nulls outside of one. */
export function ciJob(
  environment: NodeJS.ProcessEnv,
  secrets: readonly string[],
): { readonly ci: CiFacts | null; readonly commit: string | null } {
  const system = SYSTEMS.find(({ marker }) => (environment[marker] ?? '') !== '');
  if (system === undefined) return { ci: null, commit: null };
  const read = (names: readonly string[]): string | null =>
    names.map((name) => factText(environment[name], secrets)).find((text) => text !== null) ?? null;
  const { provider, repository, ref, job, run, url } = system;
  const ci = { provider, repository: read(repository), ref: read(ref), job: read(job), run: read(run), url: read(url) };
  const commit = read(system.commit);
  return { ci, commit: commit !== null && isCommit(commit) ? commit : null };
}

/** A full hash: Buildkite may name `HEAD`. */
const isCommit = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

const TIMEOUT_MILLISECONDS = 3000;
const MAX_BYTES = 2 ** 20;

/** What a program prints; null: it does not exist, fails, prints too much or takes too long. */
function programOutput(file: string, args: readonly string[]): Promise<string | null> {
  if (!isInstalled(file)) return Promise.resolve(null);
  return new Promise((resolve) => {
    const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0' };
    const options = { timeout: TIMEOUT_MILLISECONDS, maxBuffer: MAX_BYTES, windowsHide: true, env };
    execFile(file, args, options, (error, stdout) => resolve(error === null ? stdout : null));
  });
}

const HERTZ_PER_MEGAHERTZ = 1e6;
const MAX_MODELS = 8;
const SM_CLOCK = 'DCGM_FI_DEV_SM_CLOCK';
const MEMORY_CLOCK = 'DCGM_FI_DEV_MEM_CLOCK';
const QUERY = '--query-gpu=uuid,name,driver_version,clocks.sm,clocks.mem';

/** One GPU as one source reports it; the clocks in hertz. */
interface SeenGpu {
  readonly model: string | null;
  readonly driver: string | null;
  readonly sm: number | null;
  readonly memory: number | null;
}

/** The GPUs on the pages of exporters, each once: two exporters may expose the same one. */
export function gpusOfExporters(series: readonly InfoSeries[]): readonly GpuFacts[] {
  return [...gpusOfDcgm(series), ...gpusOfAmd(series)];
}

function gpusOfAmd(series: readonly InfoSeries[]): readonly GpuFacts[] {
  const byId = new Map<string, SeenGpu>();
  for (const { family, labels, target } of series) {
    if (!family.startsWith('gpu_') || labels['card_model'] === undefined) continue;
    // Each partition of a GPU has a row of its own.
    const id = labels['serial_number'] ?? `${target} ${labels['gpu_id'] ?? ''}`;
    const driver = versionText(labels['driver_version']);
    byId.set(id, { model: factText(labels['card_model']), driver, sm: null, memory: null });
  }
  return byModel([...byId.values()], 'amd_exporter');
}

function gpusOfDcgm(series: readonly InfoSeries[]): readonly GpuFacts[] {
  const byId = new Map<string, SeenGpu>();
  for (const { family, labels, value, target } of series) {
    if (!family.startsWith('DCGM_FI_') || labels['modelName'] === undefined) continue;
    // A part of a GPU (MIG) has its own rows; the GPU itself is counted.
    const id = labels['UUID'] ?? `${target} ${labels['gpu'] ?? ''}`;
    const seen = byId.get(id);
    const clock = (name: string, before: number | null | undefined): number | null =>
      family === name && Number.isFinite(value) ? value * HERTZ_PER_MEGAHERTZ : (before ?? null);
    byId.set(id, {
      model: factText(labels['modelName']),
      driver: versionText(labels['DCGM_FI_DRIVER_VERSION']) ?? seen?.driver ?? null,
      sm: clock(SM_CLOCK, seen?.sm),
      memory: clock(MEMORY_CLOCK, seen?.memory),
    });
  }
  return byModel([...byId.values()], 'dcgm');
}

/** The GPUs of this machine; empty: there is none, or both `nvidia-smi` and `rocm-smi` are missing. */
async function gpusOfThisMachine(): Promise<readonly GpuFacts[]> {
  const output = await programOutput('nvidia-smi', [QUERY, '--format=csv,noheader,nounits']);
  if (output !== null) return gpusOfCsv(output);
  const cards = await programOutput('rocm-smi', ['--showproductname', '--showdriverversion', '--json']);
  return cards === null ? [] : gpusOfRocm(cards);
}

/** Of the output of `rocm-smi`; empty if it is not its JSON. */
export function gpusOfRocm(json: string): readonly GpuFacts[] {
  const found = rocmCards(json);
  if (found === null) return [];
  const driver = versionText(found.system(/^Driver version$/i));
  const seen = found.cards.map(([, text]): SeenGpu => ({
    model: factText(text(/^Card series$/i)),
    driver,
    sm: null,
    memory: null,
  }));
  return byModel(seen, 'rocm_smi');
}

/** Rows of `nvidia-smi`: uuid, name, driver, clocks in MHz; a value that is not supported is `[N/A]`. */
export function gpusOfCsv(csv: string): readonly GpuFacts[] {
  const rows = csv.split('\n').filter((line) => line.trim() !== '');
  const clock = (text: string | undefined): number | null =>
    text !== undefined && /^\d+$/.test(text) ? Number(text) * HERTZ_PER_MEGAHERTZ : null;
  const seen = rows.map((line): SeenGpu => {
    const [, model, driver, sm, memory] = line.split(',').map((cell) => cell.trim());
    return { model: factText(model), driver: versionText(driver), sm: clock(sm), memory: clock(memory) };
  });
  return byModel(seen, 'nvidia_smi');
}

function byModel(gpus: readonly SeenGpu[], source: GpuFacts['source']): readonly GpuFacts[] {
  const groups = new Map<string, SeenGpu[]>();
  for (const gpu of gpus) {
    if (gpu.model === null) continue;
    const key = `${gpu.model}\n${gpu.driver ?? ''}`;
    groups.set(key, [...(groups.get(key) ?? []), gpu]);
  }
  return [...groups.values()].slice(0, MAX_MODELS).map((group) => ({
    model: group[0]?.model ?? '',
    count: group.length,
    driver_version: group[0]?.driver ?? null,
    sm_clock_hertz: highest(group.map(({ sm }) => sm)),
    memory_clock_hertz: highest(group.map(({ memory }) => memory)),
    source,
  }));
}

const highest = (values: readonly (number | null)[]): number | null =>
  values.reduce((most, value) => (value === null ? most : Math.max(most ?? value, value)), null);
