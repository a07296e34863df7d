import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { RunFile } from '../core/run/run.ts';
import { parseFaults } from '../simulator/faults/plan.ts';
import { startSimulator, type RunningSimulator } from '../simulator/main.ts';
import { llmbench } from './llmbench.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

let directory: string;
let runsDir: string;
const servers: RunningSimulator[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-judge-'));
  runsDir = join(directory, 'runs');
  for (let i = 0; i < 2; i++) servers.push(await startSimulator({ system: 'vllm', host: '127.0.0.1', port: 0 }));
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await rm(directory, { recursive: true });
});

const LOAD = ['--model', 'sim-model', '--scenario', 'chat', '--request-count', '6', '--isl', '16', '--osl', '4'];
const ab = (...argv: readonly string[]) => {
  const urls = ['--a', servers[0]?.url ?? '', '--b', servers[1]?.url ?? ''];
  // A busy machine saturates the client: tests/ab-repeats.itest.ts tests what follows.
  const fixed = ['--no-server-metrics', '--repeat-pairs', '0', '--json'];
  return llmbench('ab', ...urls, ...LOAD, '--runs-dir', runsDir, ...fixed, ...argv);
};

interface Printed {
  readonly design: string;
  readonly runs: { readonly a: readonly string[]; readonly b: readonly string[] };
  readonly needs: object | null;
}

test('ab measures pairs, sends the same texts within a pair, and continues where it was interrupted', async () => {
  const first = await ab('--id', 'x', '--pairs', '1');
  expect(first.stderr).toContain('pair 1 of 1, A: run x-01a');
  expect(JSON.parse(first.stdout)).toMatchObject({ design: 'pairs', runs: { a: ['x-01a'], b: ['x-01b'] } });
  const second = await ab('--id', 'x', '--pairs', '2');
  expect(second.stderr).not.toContain('pair 1 of 2');
  const { runs } = JSON.parse(second.stdout) as Printed;
  expect(runs).toEqual({ a: ['x-01a', 'x-02a'], b: ['x-01b', 'x-02b'] });
  const fingerprints = await Promise.all(
    [...runs.a, ...runs.b].map(async (id) => {
      const run = JSON.parse(await readFile(join(runsDir, id, 'run.json'), 'utf8')) as { fingerprint: string };
      return run.fingerprint;
    }),
  );
  expect(new Set(fingerprints).size).toBe(1);
  expect(second.code).toBe(0);
});

test('a server that is gone ends ab with exit code 1 and the command that continues it', async () => {
  const gone = ['--a', 'http://127.0.0.1:9', '--b', servers[1]?.url ?? ''];
  const { code, stdout, stderr } = await llmbench('ab', ...gone, ...LOAD, '--runs-dir', runsDir, '--id', 'y');
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/the comparison is not complete; to continue it: llmbench ab .*--id y\n$/);
  expect(stderr.match(/ y(?= |\n|$)/g)?.length).toBe(stderr.match(/--id y/g)?.length);
});

test('check judges what run has stored, and history shows it', async () => {
  const check = await llmbench('check', '--scenario', 'chat', '--runs-dir', runsDir, '--undecided', 'fail');
  expect(check.code).toBe(99);
  expect(check.stdout).toMatch(/^verdict {5}undecided\n/);
  const history = await llmbench('history', 'chat', '--runs-dir', runsDir);
  expect(history.stdout).toMatch(/x-02a .* undecided/);
});

test('run --check measures and judges in one, and prints one document', async () => {
  const options = ['--url', servers[0]?.url ?? '', ...LOAD, '--runs-dir', runsDir, '--no-server-metrics'];
  const { code, stdout } = await llmbench('run', ...options, '--concurrency', '1', '--check', '--json');
  expect(code).toBe(0);
  const { verdict, runs } = JSON.parse(stdout) as Printed & { verdict: string };
  expect(verdict).toBe('undecided');
  expect(runs.b).toHaveLength(1);
  const strict = await llmbench('run', ...options, '--concurrency', '1', '--check', '--undecided', 'fail');
  expect(strict.code).toBe(99);
  expect(strict.stdout).toMatch(/^\nrun {9}.*\n(.*\n)+verdict {5}undecided\n/);
});

test('run --check --confirm exits with 99 when further runs confirm it, and so do the next nights, also in pipelines', async () => {
  // One output token: no inter-token latency by which a busy machine would saturate the client.
  const load = [
    '--model',
    'sim-model',
    '--scenario',
    'confirmed',
    '--request-count',
    '20',
    '--isl',
    '32',
    '--osl',
    '1',
  ];
  const plan = [...load, '--concurrency', '4', '--linger', 'no', '--no-server-metrics', '--runs-dir', runsDir];
  const [normal, slow] = await Promise.all(
    [4, 12].map((factor) =>
      startSimulator({
        ...{ system: 'vllm', host: '127.0.0.1', port: 0 },
        faults: parseFaults([`slowdown:factor=${factor}`]),
      }),
    ),
  );
  servers.push(...[normal, slow].filter((each) => each !== undefined));
  const six = await llmbench('run', '--url', normal?.url ?? '', ...plan, '--num-profile-runs', '6', '--json');
  expect([six.code, six.stderr]).toEqual([0, expect.any(String)]);
  expect((await llmbench('baseline', 'accept', 'scenario:confirmed', '--runs-dir', runsDir)).code).toBe(0);
  const gate = ['--gate', 'time_to_first_token:p50', '--check', '--confirm', '8', '--json'];
  const { code, stdout, stderr } = await llmbench('run', '--url', slow?.url ?? '', ...plan, ...gate);
  expect([code, stdout + stderr]).toEqual([99, expect.stringContaining('"verdict": "regressed"')]);
  expect(stderr).toContain('the run looks suspect: confirming run 1 of up to 8');
  const { runs } = JSON.parse(stdout) as Printed;
  // One run alone is at most suspect.
  expect(runs.a).toHaveLength(6);
  expect(runs.b.length).toBeGreaterThanOrEqual(2);

  // The next night no run is confirmed: the regression is open, whatever one run shows, until somebody accepts its level.
  const night = [...plan, ...gate.slice(0, 2), '--check'];
  const next = await llmbench('run', '--url', slow?.url ?? '', ...night);
  expect([next.code, next.stdout]).toEqual([
    99,
    expect.stringMatching(/^state {7}regressed since \S+ \(\d+ runs ago\), /m),
  ]);
  expect(next.stderr).toMatch(/^confirmed: regressed since .* \+\d+(\.\d)? %\n/m);
  for (const pipeline of [gitHubAction, gitLabJob]) {
    const { code: exitCode, reported, log } = await pipeline(runsDir, 'confirmed', ['--url', slow?.url ?? '', ...plan]);
    expect([exitCode, reported]).toEqual([99, expect.stringMatching(/[Rr]egressed since \S+ \(\d+ runs ago\), /)]);
    expect(log).toMatch(/^confirmed: regressed since /m);
  }
  const { stdout: shown } = await llmbench('regression', 'show', 'confirmed', '--json', '--runs-dir', runsDir);
  const { open_regression: open } = JSON.parse(shown) as { open_regression: { run_ids: readonly string[] } };
  const history = await llmbench('history', 'confirmed', '--runs-dir', runsDir);
  expect(history.stdout).toMatch(/^confirmed: regressed since \S+ \(\d+ runs ago\), /);
  const accepted = ['accept', open.run_ids.join(','), '--reason', 'intended', '--runs-dir', runsDir];
  expect((await llmbench('baseline', ...accepted)).code).toBe(0);
  expect((await llmbench('run', '--url', slow?.url ?? '', ...night)).code).toBe(0);
});

interface PipelineResult {
  readonly code: number | null;
  /** What the pipeline shows of the verdict. */
  readonly reported: string;
  readonly log: string;
}

/** The steps of `action.yml`, as GitHub runs them. */
async function gitHubAction(runs: string, scenario: string, options: readonly string[]): Promise<PipelineResult> {
  const folder = await mkdtemp(join(directory, 'action-'));
  const files = { GITHUB_OUTPUT: join(folder, 'output'), GITHUB_STEP_SUMMARY: join(folder, 'summary.md') };
  const { runs: action } = parse(await readFile(join(ROOT, 'action.yml'), 'utf8')) as {
    runs: { steps: readonly { readonly run?: string; readonly env?: object; readonly if?: string }[] };
  };
  const inputs = { OPTIONS: options.join(' '), SCENARIO: scenario, RUNS_DIR: runs, VERSION: 'latest' };
  const env = { ...files, ...inputs, CONFIRM: '0', ACCEPT: 'false', UNDECIDED: 'pass', CODE: '' };
  let log = '';
  for (const { run, if: condition } of action.steps) {
    if (run === undefined || condition !== undefined) continue;
    const outputs = await readFile(files.GITHUB_OUTPUT, 'utf8').catch(() => '');
    env.CODE = /^code=(.*)$/m.exec(outputs)?.[1] ?? '';
    const step = await inBash(run, folder, env);
    log += step.log;
    if (step.code === 0) continue;
    expect(outputs).toContain('verdict=regressed\n');
    expect(log).toMatch(/^::error title=llmbench::Regressed since .* %25$/m);
    return { code: step.code, reported: await readFile(files.GITHUB_STEP_SUMMARY, 'utf8'), log };
  }
  return { code: 0, reported: '', log };
}

/** The script of the job in `deploy/gitlab-ci.yml`, as GitLab runs it. */
async function gitLabJob(runs: string, scenario: string, options: readonly string[]): Promise<PipelineResult> {
  const folder = await mkdtemp(join(directory, 'gitlab-'));
  // GitLab restores the cache into the folder of the job.
  await symlink(runs, join(folder, 'runs'));
  const jobs = parse(await readFile(join(ROOT, 'deploy/gitlab-ci.yml'), 'utf8')) as {
    '.llmbench': { script: readonly string[]; variables: Record<string, string> };
  };
  const { script, variables } = jobs['.llmbench'];
  const env = { ...variables, LLMBENCH_SCENARIO: scenario, LLMBENCH_RUN_OPTIONS: options.join(' ') };
  const { code, log } = await inBash(script.join('\n'), folder, env);
  return { code, reported: await readFile(join(folder, 'llmbench.xml'), 'utf8'), log };
}

/** Bash as both start it, with this checkout as the installed llmbench. */
async function inBash(script: string, cwd: string, env: Readonly<Record<string, string>>) {
  const installed = `npm() { :; }\nllmbench() { "${process.execPath}" "${join(ROOT, 'bin/llmbench.js')}" "$@"; }\n`;
  const child = spawn('bash', ['-eo', 'pipefail', '-c', installed + script], { cwd, env: { ...process.env, ...env } });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (log += text));
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, log };
}

test('run refuses options of the judge without --check, and --check of several loads', async () => {
  const options = ['--url', servers[0]?.url ?? '', ...LOAD, '--runs-dir', runsDir];
  const without = await llmbench('run', ...options, '--concurrency', '1', '--accept-passed');
  expect(without).toMatchObject({ code: 2, stderr: 'llmbench run: --accept-passed requires --check\n' });
  const several = await llmbench('run', ...options, '--concurrency', '1,2', '--check');
  expect(several.code).toBe(2);
  expect(several.stderr).toContain('--check requires one load');
});

test('an undecided objective passes, and fails with --slo-undecided fail', async () => {
  // Six requests cannot decide on a p99.
  const options = ['--url', servers[0]?.url ?? '', ...LOAD, '--concurrency', '1', '--slo', 'itl:p99<10s'];
  const passed = await llmbench('run', ...options, '--runs-dir', runsDir, '--no-server-metrics');
  expect(passed.stdout).toMatch(/^SLO +undecided: .* \(.*; about \d+ requests decide/m);
  expect(passed.code).toBe(0);
  const failed = await llmbench(
    'run',
    ...options,
    '--runs-dir',
    runsDir,
    '--no-server-metrics',
    '--slo-undecided',
    'fail',
  );
  expect(failed.code).toBe(99);
});

test('ab sends the same texts within a pair, and no other pair or comparison sends them', async () => {
  const textsOf = async ({ stdout }: { readonly stdout: string }): Promise<readonly (readonly unknown[])[]> => {
    const { runs } = JSON.parse(stdout) as Printed;
    const read = async (id: string): Promise<unknown> => {
      const file = JSON.parse(await readFile(join(runsDir, id, 'run.json'), 'utf8')) as RunFile;
      return file.dataset?.prompt_variant;
    };
    return Promise.all([runs.a, runs.b].map((ids) => Promise.all(ids.map(read))));
  };
  const [a = [], b = []] = await textsOf(await ab('--id', 'p', '--pairs', '2'));
  expect(b).toEqual(a);
  const [other = []] = await textsOf(await ab('--id', 'q', '--pairs', '2'));
  expect(new Set([...a, ...other]).size).toBe(4);
});
