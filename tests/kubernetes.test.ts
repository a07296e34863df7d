import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { readOptions } from '../exporter/cli/options/options.ts';
import { RUN_OPTIONS, runRequests } from '../exporter/cli/options/run-options.ts';

interface Job {
  readonly spec: {
    readonly completionMode?: string;
    readonly completions?: number;
    readonly parallelism?: number;
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
  };
}

const RUN_ID = 'night-7';

/** The manifest, filled in as its head instructs. */
function job(name: string): Job {
  const text = readFileSync(new URL(`../deploy/kubernetes/${name}`, import.meta.url), 'utf8');
  return parse(text.replaceAll('RUN_ID', RUN_ID).replaceAll('START_AT', '2030-01-31T12:00:00Z')) as Job;
}

const argsOf = ({ spec }: Job): readonly string[] => spec.template.spec.containers[0]?.args ?? [];

test('every pod of the Job makes another shard of the same run, and all shards are made', () => {
  const benchmark = job('benchmark-job.yaml');
  const { completionMode, completions = 0, parallelism } = benchmark.spec;
  expect([completionMode, completions]).toEqual(['Indexed', parallelism]);
  const [command, ...args] = argsOf(benchmark);
  expect(command).toBe('run');
  const shards = Array.from({ length: completions }, (_, index) => {
    // As the kubelet replaces it.
    const own = args.map((arg) => arg.replace('$(JOB_COMPLETION_INDEX)', String(index)));
    const [request] = runRequests(readOptions(RUN_OPTIONS, own, {}));
    return request;
  });
  expect(shards.map((request) => request?.shard?.share)).toEqual(
    shards.map((_, part) => ({ part, parts: completions })),
  );
  expect(new Set(shards.map((request) => request?.runsDirectory)).size).toBe(completions);
  for (const shard of shards) {
    const { startAt_ms } = shard?.shard ?? {};
    expect([shard?.runId, startAt_ms]).toEqual([RUN_ID, Date.UTC(2030, 0, 31, 12)]);
    expect(shard?.textVariant).toBe(shards[0]?.textVariant);
  }
});

test('the shards are merged where they were written', () => {
  const runs = '--runs-dir=/runs';
  expect(argsOf(job('benchmark-job.yaml'))).toContain(runs);
  expect(argsOf(job('merge-job.yaml'))).toEqual(['merge', RUN_ID, runs]);
});
