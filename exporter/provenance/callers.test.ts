import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkedOutCommit, ciJob, gpusOfCsv, gpusOfExporters, gpusOfRocm } from './read-provenance.ts';
import { metadataPair } from './provenance-request.ts';

const COMMIT = 'ffac537e6cbbf934b08745a378932722df287a53';

describe('the CI job', () => {
  // The values are the examples of each system's documentation.
  test.each([
    [
      {
        GITHUB_ACTIONS: 'true',
        GITHUB_SHA: COMMIT,
        GITHUB_REPOSITORY: 'octocat/Hello-World',
        GITHUB_RUN_ID: '1658821493',
      },
      { provider: 'github', repository: 'octocat/Hello-World', run: '1658821493' },
    ],
    [
      { GITLAB_CI: 'true', CI_COMMIT_SHA: COMMIT, CI_JOB_URL: 'https://ci:planted@gitlab.com/-/jobs/1?t=planted' },
      { provider: 'gitlab', url: 'https://gitlab.com/-/jobs/1' },
    ],
    [
      {
        BUILDKITE: 'true',
        BUILDKITE_COMMIT: COMMIT,
        BUILDKITE_BRANCH: 'main',
        BUILDKITE_AGENT_ACCESS_TOKEN: 'planted',
      },
      { provider: 'buildkite', ref: 'main', run: null },
    ],
    [
      { JENKINS_URL: 'https://j/', GIT_COMMIT: COMMIT, JOB_NAME: 'nightly', GIT_BRANCH: 'origin/main' },
      { provider: 'jenkins', job: 'nightly', ref: 'origin/main' },
    ],
  ])('%#', (environment, expected) => {
    const found = ciJob(environment, []);
    expect(found).toMatchObject({ ci: expected, commit: COMMIT });
    expect(JSON.stringify(found)).not.toContain('planted');
  });

  test('is null elsewhere, and a commit is a hash', () => {
    expect(ciJob({ GITHUB_SHA: COMMIT }, [])).toEqual({ ci: null, commit: null });
    expect(ciJob({ BUILDKITE: 'true', BUILDKITE_COMMIT: 'HEAD' }, []).commit).toBeNull();
  });
});

test('the commit of a folder says whether files were changed; a folder without a repository has none', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'llmbench-commit-'));
  try {
    expect(await checkedOutCommit(folder)).toBeNull();
    const git = (...args: string[]): string => {
      const author = ['-c', 'user.name=a', '-c', 'user.email=a@localhost', '-c', 'commit.gpgsign=false'];
      return execFileSync('git', ['-C', folder, ...author, ...args], { encoding: 'utf8' }).trim();
    };
    git('init', '-q');
    await writeFile(join(folder, 'file'), '1');
    git('add', 'file');
    git('commit', '-qm', 'first');
    const commit = git('rev-parse', 'HEAD');
    expect(await checkedOutCommit(folder)).toEqual({ commit, dirty: false });
    await writeFile(join(folder, 'file'), '2');
    expect(await checkedOutCommit(folder)).toEqual({ commit, dirty: true });
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe('GPUs', () => {
  const sample = (family: string, UUID: string, value: number, target = 'a') => {
    const labels = { gpu: '0', UUID, modelName: 'NVIDIA H100 80GB HBM3', DCGM_FI_DRIVER_VERSION: '570.86.15' };
    return { target, family, value, labels };
  };

  test('of DCGM exporters are counted once each', () => {
    const series = [
      sample('DCGM_FI_DEV_SM_CLOCK', 'GPU-1', 1980),
      sample('DCGM_FI_DEV_SM_CLOCK', 'GPU-1', 1980, 'b'),
      sample('DCGM_FI_DEV_SM_CLOCK', 'GPU-2', 345),
      sample('DCGM_FI_DEV_MEM_CLOCK', 'GPU-2', 2619),
    ];
    expect(gpusOfExporters(series)).toEqual([
      {
        ...{ model: 'NVIDIA H100 80GB HBM3', count: 2, driver_version: '570.86.15', source: 'dcgm' },
        ...{ sm_clock_hertz: 1.98e9, memory_clock_hertz: 2.619e9 },
      },
    ]);
  });

  test('of nvidia-smi: what it does not support is null', () => {
    const row = (uuid: string, model: string): string => `GPU-${uuid}, ${model}, 570.86.15, 1410, [N/A]\n`;
    expect(gpusOfCsv(row('1', 'NVIDIA A100') + row('2', 'NVIDIA A100') + row('3', 'NVIDIA L4'))).toEqual([
      expect.objectContaining({ model: 'NVIDIA A100', count: 2, sm_clock_hertz: 1.41e9, memory_clock_hertz: null }),
      expect.objectContaining({ model: 'NVIDIA L4', count: 1, source: 'nvidia_smi' }),
    ]);
    expect(gpusOfCsv('')).toEqual([]);
  });

  test("of AMD's exporter: one per serial number, whatever its partitions", () => {
    const series = [
      ['S1', '0'],
      ['S1', '1'],
      ['S2', '2'],
    ].map(([serial_number = '', gpu_id = '']) => {
      const labels = { serial_number, gpu_id, card_model: 'Instinct MI300X' };
      return { target: 'a', family: 'gpu_package_power', value: 140, labels };
    });
    expect(gpusOfExporters(series)).toEqual([
      expect.objectContaining({ model: 'Instinct MI300X', count: 2, source: 'amd_exporter' }),
    ]);
  });

  test('of rocm-smi', () => {
    const card = { 'Card Series': 'AMD Instinct MI300X', 'Card Model': '0x74a1' };
    const json = JSON.stringify({ card0: card, card1: card, system: { 'Driver version': '6.8.5' } });
    expect(gpusOfRocm(json)).toEqual([
      expect.objectContaining({ model: 'AMD Instinct MI300X', count: 2, driver_version: '6.8.5', source: 'rocm_smi' }),
    ]);
    expect(gpusOfRocm('WARNING: No AMD GPUs specified')).toEqual([]);
  });
});

test('metadata is a key and a value; credentials are replaced', () => {
  expect(metadataPair('team=a=b')).toEqual(['team', 'a=b']);
  expect(metadataPair('hf_token=planted')).toEqual(['hf_token', '***']);
  expect(metadataPair('note=Bearer planted')).toEqual(['note', '***']);
  expect(metadataPair('source=https://u:planted@h/?k=planted')?.[1]).not.toContain('planted');
  for (const text of ['team', '=a', 'a b=c', 'team=']) expect(metadataPair(text)).toBeNull();
});
