import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { RunFile } from '../core/run/run.ts';
import { describeWithS3 } from '../exporter/store/object-storage/testing/describe-with-s3.ts';
import { startS3, type S3Server } from '../exporter/store/object-storage/testing/s3-server.ts';
import { openStore } from '../exporter/store/run-store.ts';
import { announced, start, type Ended, type Started } from './llmbench.ts';

jest.setTimeout(120_000);

describeWithS3('shards that meet in object storage', (program) => {
  let server: S3Server;
  let directory: string;
  let simulator: Started;
  let url: string;
  const team = 's3://bench/team';

  beforeAll(async () => {
    server = await startS3(program);
    directory = await mkdtemp(join(tmpdir(), 'llmbench-meeting-'));
    simulator = start(['simulate', '--port', '0', '--json']);
    ({ url } = await announced(simulator));
  });

  afterAll(async () => {
    simulator.child.kill();
    await simulator.ended;
    await server.stop();
    await rm(directory, { recursive: true });
  });

  const shard = (runId: string, part: number, parts: number, ...more: readonly string[]): Started =>
    start(
      [
        ...['run', '--url', url, '--model', 'sim-model', '--concurrency', '4', '--isl', '8', '--osl', '16'],
        ...[
          '--run-id',
          runId,
          '--shard',
          `${part}/${parts}`,
          '--upload',
          team,
          '--no-server-metrics',
          '--workers',
          '1',
        ],
        ...['--runs-dir', join(directory, `pod-${part}`), '--shard-timeout', '4', ...more],
      ],
      { env: server.env },
    );
  const llmbench = (...args: readonly string[]): Promise<Ended> => start(args, { env: server.env }).ended;
  const stored = async (runId: string): Promise<RunFile> =>
    JSON.parse(await readFile(join(server.folder, 'team', runId, 'run.json'), 'utf8')) as RunFile;

  test('they begin together without a given time, and the last one merges the run', async () => {
    const load = ['--request-count', '40', '--warmup-request-count', '4'];
    const first = shard('together', 0, 2, ...load);
    await first.said('all shards are ready');
    const ended = await Promise.all([first.ended, shard('together', 1, 2, ...load).ended]);
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    const said = ended.map(({ stderr }) => stderr);
    expect(said.filter((text) => text.includes(`merged 2 shards to ${team}/together`))).toHaveLength(1);
    expect(said.filter((text) => /shard [01] merges run together/.test(text))).toHaveLength(1);
    const starts = said.map((text) => /all shards start to measure at (\S+)/.exec(text)?.[1]);
    expect(starts[0]).toBe(starts[1]);

    const run = await stored('together');
    expect(run).toMatchObject({ status: 'completed', shards: { count: 2, missing: [] } });
    expect(run.phases.find(({ phase }) => phase === 'measure')?.start?.slice(0, 19)).toBe(starts[0]?.slice(0, 19));
    const copies = join(directory, 'copies');
    expect((await llmbench('runs', 'pull', 'together', '--store', team, '--runs-dir', copies)).code).toBe(0);
    const { store } = await openStore(copies);
    const indices: number[] = [];
    for await (const { index } of store.readRecords(run)) indices.push(index);
    expect(indices.sort((a, b) => a - b)).toEqual(Array.from({ length: 44 }, (_, i) => i));

    const again = await shard('together', 1, 2, ...load, '--runs-dir', join(directory, 'again')).ended;
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('every run requires its own --run-id') });
  });

  test('one that is killed leaves a merged run that is marked incomplete wherever it is shown', async () => {
    const load = ['--benchmark-duration', '3'];
    const shards = [0, 1, 2].map((part) => shard('killed', part, 3, ...load));
    await shards[2]?.said('all shards start to measure');
    shards[2]?.child.kill('SIGKILL');
    const [first, second] = await Promise.all(shards.map(({ ended }) => ended));
    expect([first?.code, second?.code]).toEqual([1, 1]);
    const incomplete = /run killed is INCOMPLETE: shard 2 of 3 did not end/;
    expect([first, second].filter((each) => incomplete.test(each?.stderr ?? ''))).toHaveLength(1);
    expect(`${first?.stderr}${second?.stderr}`).toMatch(/shard [01] merges run killed without shard 2 of 3/);
    const run = await stored('killed');
    expect(run).toMatchObject({
      ...{ status: 'aborted', failure: 'incomplete: shard 2 of 3 is missing' },
      shards: { count: 3, missing: ['2'] },
    });
    const list = await llmbench('runs', 'list', '--store', team);
    expect(list.stdout).toContain('aborted, 1 shard missing');
    const report = await readFile(join(server.folder, 'team/killed/report.html'), 'utf8');
    expect(report).toContain('incomplete: shard 2 of 3 is missing');
    const compared = await llmbench('compare', 'killed', 'together', '--runs-dir', team);
    expect(compared.stdout).toContain('Shards are missing in 1 run: the load was smaller than planned.');
  });

  test('a missing shard, another plan, or a server that does not answer ends all of them, and nothing is measured', async () => {
    const load = ['--request-count', '40'];
    const ended = (runId: string, part: number, parts: number, ...more: readonly string[]): Promise<Ended> =>
      shard(runId, part, parts, ...more).ended;
    const [absent, other, dead] = await Promise.all([
      Promise.all([0, 1].map((part) => ended('absent', part, 3, ...load, '--start-timeout', '3'))),
      Promise.all([40, 41].map((requests, part) => ended('other', part, 2, '--request-count', `${requests}`))),
      Promise.all([url, 'http://127.0.0.1:9'].map((target, part) => ended('dead', part, 2, ...load, '--url', target))),
    ]);
    const reasons = [
      [absent, /shard 2 did not start within 3 s \(--start-timeout\)/],
      [other, /shard 1 has another plan than shard 0/],
      [dead, /http:\/\/127\.0\.0\.1:9: connection refused/],
    ] as const;
    for (const [shards, reason] of reasons) {
      for (const { code, stderr } of shards) expect([code, stderr]).toEqual([1, expect.stringMatching(reason)]);
    }
    await expect(stored('absent')).rejects.toThrow('ENOENT');
  });
});
