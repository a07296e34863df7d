import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { stringify } from 'yaml';
import type { RunFile } from '../core/run/run.ts';
import { describeWithS3 } from '../exporter/store/object-storage/testing/describe-with-s3.ts';
import { startS3, type S3Server } from '../exporter/store/object-storage/testing/s3-server.ts';
import { announced, start, type Started } from './llmbench.ts';
import { asKubelet, containersOf, describeWithChart, renderChart } from './rendered-chart.ts';

jest.setTimeout(180_000);

const SHARDS = 3;

/** The pods of the Job as processes: arguments and environment as rendered, with a folder each as its volumes. */
describeWithChart("the pods of the chart's Job", (chart) => {
  describeWithS3('with a bucket', (program) => {
    let server: S3Server;
    let directory: string;
    let simulator: Started;
    let url: string;

    beforeAll(async () => {
      server = await startS3(program);
      directory = await mkdtemp(join(tmpdir(), 'llmbench-job-'));
      simulator = start(['simulate', '--port', '0', '--json']);
      ({ url } = await announced(simulator));
    });

    afterAll(async () => {
      simulator.child.kill();
      await simulator.ended;
      await server.stop();
      await rm(directory, { recursive: true });
    });

    const startPods = async (
      runId: string,
      options: Readonly<Record<string, unknown>>,
    ): Promise<readonly Started[]> => {
      const values = join(directory, `${runId}.yaml`);
      const bucket = {
        location: 's3://bench/team',
        endpoint: server.url,
        region: 'us-east-1',
        credentialsSecret: 'keys',
      };
      const load = { url, model: 'sim-model', concurrency: 6, isl: 8, osl: 16, 'no-server-metrics': true, ...options };
      await writeFile(
        values,
        stringify({
          storage: { kind: 'bucket', bucket },
          exporter: { enabled: false },
          benchmark: { enabled: true, runId, shards: SHARDS, options: load },
        }),
      );
      const { manifests, findings } = await renderChart(chart, values);
      expect(findings).toBe('');
      const [container] = containersOf(manifests);
      // The Secret of the bucket, in the environment by `envFrom`.
      const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = server.env;
      return Array.from({ length: SHARDS }, (_, index) => {
        const folder = join(directory, runId, `pod-${index}`);
        // Pods have an address and volumes of their own; these processes share both.
        const own = (text: string): string =>
          text.replace(/^(\/cache|\/tmp)$/, `${folder}$1`).replace('--runs-dir=/runs', `--runs-dir=${folder}/runs`);
        const args = (container?.args ?? [])
          .map((arg) => own(asKubelet(arg, index)))
          .map((arg) => arg.replace(/^--metrics-port=.*/, '--metrics-port=0').replace('0.0.0.0', '127.0.0.1'));
        const env = Object.fromEntries((container?.env ?? []).map(({ name, value = '' }) => [name, own(value)]));
        return start(args, {
          env: { ...env, ...{ AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, JOB_COMPLETION_INDEX: String(index) } },
        });
      });
    };
    const stored = async (runId: string, file: string): Promise<string> =>
      readFile(join(server.folder, 'team', runId, file), 'utf8');

    test('make one run, which the last one merges', async () => {
      const pods = await startPods('job-1', { 'request-count': 60, 'warmup-request-count': 6 });
      const ended = await Promise.all(pods.map((pod) => pod.ended));
      expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(pods.map(() => [0, expect.any(String)]));
      expect(JSON.parse(await stored('job-1', 'run.json')) as RunFile).toMatchObject({
        ...{ status: 'completed', shards: { count: SHARDS, missing: [] } },
      });
      const result = JSON.parse(await stored('job-1', 'result.json')) as { requests: Record<string, number> };
      expect(result.requests).toMatchObject({ ok: 60, error: 0 });
    });

    test('leave a run that is marked incomplete if one of them is killed', async () => {
      const pods = await startPods('job-2', { 'benchmark-duration': 3, 'shard-timeout': 4 });
      const [first, , third] = pods;
      await first?.said('all shards start to measure');
      third?.child.kill('SIGKILL');
      const ended = await Promise.all(pods.map((pod) => pod.ended));
      // The Job fails.
      expect(ended.map(({ code }) => code)).toEqual([1, 1, null]);
      expect(JSON.parse(await stored('job-2', 'run.json')) as RunFile).toMatchObject({
        ...{ status: 'aborted', failure: `incomplete: shard 2 of ${SHARDS} is missing` },
        shards: { count: SHARDS, missing: ['2'] },
      });
    });
  });
});
