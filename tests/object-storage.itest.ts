import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { describeWithS3 } from '../exporter/store/object-storage/testing/describe-with-s3.ts';
import { startS3, type S3Server } from '../exporter/store/object-storage/testing/s3-server.ts';
import { startProxy } from '../exporter/store/object-storage/testing/faulty-proxy.ts';
import { announced, start, type Ended, type Started } from './llmbench.ts';
import { until } from '../core/testing/until.ts';

jest.setTimeout(300_000);

describeWithS3('runs of a team in object storage', (program) => {
  let server: S3Server;
  let directory: string;
  let simulator: Started;
  let url: string;

  const llmbench = (env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ended> =>
    start(args, { env: { ...server.env, ...env } }).ended;
  const measured = (env: Readonly<Record<string, string>>, runId: string, ...more: readonly string[]): Promise<Ended> =>
    llmbench(
      env,
      ...['run', '--url', url, '--model', 'sim-model', '--concurrency', '2', '--request-count', '4', '--osl', '4'],
      ...['--scenario', 'nightly', '--runs-dir', join(directory, 'runs'), '--run-id', runId, ...more],
    );

  beforeAll(async () => {
    server = await startS3(program);
    directory = await mkdtemp(join(tmpdir(), 'llmbench-team-'));
    simulator = start(['simulate', '--port', '0', '--json']);
    ({ url } = await announced(simulator));
  });

  afterAll(async () => {
    simulator.child.kill();
    await simulator.ended;
    await server.stop();
    await rm(directory, { recursive: true });
  });

  test('run --upload, a serve elsewhere shows the run, checks of two jobs keep both lines', async () => {
    const team = 's3://bench/team';
    const serve = start(['serve', '--runs-dir', team, '--port', '0', '--json'], { env: server.env });
    const { url: served } = await announced(serve);
    const first = await measured({}, 'night-1', '--upload', team);
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining(`uploaded to ${team}/night-1`) });
    await measured({ LLMBENCH_UPLOAD: team }, 'night-2');
    const shown = async (): Promise<string[]> => {
      const { runs } = (await (await fetch(`${served}/api/v1/runs`)).json()) as { runs: { run_id: string }[] };
      return runs.map(({ run_id }) => run_id).sort();
    };
    await until(async () => (await shown()).length >= 2, 120, 500);
    expect(await shown()).toEqual(['night-1', 'night-2']);
    const distribution = await fetch(`${served}/api/v1/runs/night-1/records`);
    expect(distribution.status).toBe(200);
    expect((await fetch(`${served}/runs/night-1`)).status).toBe(200);
    serve.child.kill();
    await serve.ended;

    const accepted = await llmbench({}, 'baseline', 'accept', 'night-1', '--runs-dir', team);
    expect(accepted).toMatchObject({ code: 0, stdout: expect.stringContaining('the baseline of nightly has 1 run') });
    const jobs = ['a', 'b', 'c'].map((author) =>
      llmbench(
        { LLMBENCH_CACHE_DIR: join(directory, author) },
        ...['check', '--scenario', 'nightly', '--runs-dir', team, '--author', author],
      ),
    );
    for (const job of await Promise.all(jobs))
      expect(job).toMatchObject({ code: 0, stdout: expect.stringContaining('nightly') });
    const verdicts = await readFile(join(server.folder, 'team/scenarios/nightly/verdicts.jsonl'), 'utf8');
    const authors = verdicts
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { author: string }).author);
    expect(authors.sort()).toEqual(['a', 'b', 'c']);
  });

  test('a run that cannot be uploaded is kept, and uploaded by the next command', async () => {
    const refused = await measured({}, 'refused', '--upload', 's3://missing/x');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('the bucket does not exist') });
    const readOnly = await server.readOnly();
    const failed = await measured({ AWS_ENDPOINT_URL_S3: readOnly }, 'kept', '--upload', 's3://bench/later');
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain(
      '1 run not uploaded; the next run with --upload tries again, or: llmbench runs push',
    );
    const next = await measured({}, 'next', '--upload', 's3://bench/later');
    expect(next).toMatchObject({ code: 0, stderr: expect.stringContaining('uploaded to s3://bench/later/kept') });
    const list = await llmbench({}, 'runs', 'list', '--store', 's3://bench/later');
    expect(list.stdout).toMatch(/kept[\s\S]*next|next[\s\S]*kept/);
    const pulled = await llmbench(
      {},
      'runs',
      'pull',
      '--store',
      's3://bench/later',
      '--runs-dir',
      join(directory, 'copy'),
    );
    expect(pulled).toMatchObject({ code: 0, stdout: expect.stringContaining('2 runs downloaded') });
    const verified = await llmbench({}, 'runs', 'verify', '--runs-dir', join(directory, 'copy'));
    expect(verified).toMatchObject({ code: 0, stdout: '2 ok\n' });
  });

  test('a run waits for storage that is away at its end, and reports it', async () => {
    const proxy = await startProxy(server.env['AWS_ENDPOINT_URL_S3'] ?? '');
    // Each upload makes a few attempts of its own: the storage is away for more than one of them.
    let cuts = 0;
    proxy.fault = (method) => (method === 'PUT' && ++cuts <= 10 ? 'cut' : 'pass');
    try {
      const ended = await measured({ AWS_ENDPOINT_URL_S3: proxy.url }, 'waits', '--upload', 's3://bench/away');
      expect(ended.stderr).toMatch(/the upload is tried again, for up to \d+ s \(--upload-timeout\)/);
      expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('uploaded to s3://bench/away/waits') });
      const impatient = ['impatient', '--upload', 's3://bench/away', '--upload-timeout', '0'] as const;
      proxy.fault = (method) => (method === 'PUT' ? 'cut' : 'pass');
      const { code, stderr } = await measured({ AWS_ENDPOINT_URL_S3: proxy.url }, ...impatient);
      expect(code).toBe(1);
      expect(stderr).toContain('1 run not uploaded; the next run with --upload tries again');
      expect(stderr).not.toContain('the upload is tried again');
    } finally {
      proxy.close();
    }
  });

  test('a serve whose storage is away shows its cache, and reports it on each page', async () => {
    const team = 's3://bench/cut';
    await measured({}, 'cached', '--upload', team);
    const proxy = await startProxy(server.env['AWS_ENDPOINT_URL_S3'] ?? '');
    const env = { ...server.env, AWS_ENDPOINT_URL_S3: proxy.url, LLMBENCH_CACHE_DIR: join(directory, 'cut') };
    const serve = start(['serve', '--runs-dir', team, '--port', '0', '--json'], { env });
    const { url: served } = await announced(serve);
    const read = async (path: string): Promise<string> => (await fetch(`${served}${path}`)).text();
    try {
      await until(async () => (await read('/api/v1/runs')).includes('cached'), 120, 500);
      expect(await read('/metrics')).toContain('\nllmbench_storage_readable 1\n');
      proxy.fault = () => 'cut';
      await until(async () => (await read('/metrics')).includes('\nllmbench_storage_readable 0\n'), 120, 500);
      const ready = await fetch(`${served}/-/ready`);
      expect([ready.status, await ready.text()]).toEqual([
        503,
        expect.stringMatching(/^The runs in the cache are shown since \S+: cannot list s3:\/\/bench\/cut\S*: /),
      ]);
      expect((await fetch(`${served}/-/healthy`)).status).toBe(200);
      expect(await read('/api/v1/runs')).toContain('cached');
      const report = await fetch(`${served}/runs/cached`);
      expect([report.status, await report.text()]).toEqual([503, expect.stringContaining('s3://bench/cut/cached')]);
      proxy.fault = () => 'pass';
      await until(async () => (await read('/metrics')).includes('\nllmbench_storage_readable 1\n'), 120, 500);
      expect((await fetch(`${served}/runs/cached`)).status).toBe(200);
      expect((await fetch(`${served}/-/ready`)).status).toBe(200);
    } finally {
      serve.child.kill();
      await serve.ended;
      proxy.close();
    }
  });

  test('nothing is measured into object storage, and its runs are not changed', async () => {
    const into = await measured({}, 'x', '--runs-dir', 's3://bench/team');
    expect(into).toMatchObject({ code: 2, stderr: expect.stringContaining('--upload s3://bench/team') });
    const removed = await llmbench({}, 'runs', 'delete', 'latest', '--yes', '--runs-dir', 's3://bench/team');
    expect(removed).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be changed from here') });
  });
});
