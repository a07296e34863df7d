import { isIPv4 } from 'node:net';
import { hostname, networkInterfaces, arch, cpus, release, totalmem, type } from 'node:os';
import type { CommitFacts, Provenance, MachineFacts, CiFacts } from '../../core/run/provenance.ts';
import { factText } from './facts.ts';
import { gpusOfExporters, gpusOfThisMachine, programOutput } from './gpus.ts';
import type { ProvenanceRequest } from './provenance-request.ts';
import { readServers, type AskedServers } from './read-servers.ts';

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
