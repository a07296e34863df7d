import type { WithoutData } from './without-data.ts';

/** Families that a system's dashboard shows and that, in a test, are on other pages, which may be of another job. */
export interface OtherJob {
  readonly of: WithoutData['of'];
  /** The dashboard; that of the app as well. */
  readonly uid: string;
  /** How the names of the metrics begin. */
  readonly prefix: string;
  readonly job: string;
  readonly reason: string;
}

export const OTHER_JOBS: readonly OtherJob[] = [
  {
    of: 'simulated',
    uid: 'llmbench-vllm',
    prefix: 'lmcache:',
    job: 'sim-dynamo',
    reason: 'LMCache is simulated in the workers of Dynamo',
  },
  {
    of: 'recorded',
    uid: 'llmbench-vllm',
    prefix: 'lmcache:',
    job: 'replay-vllm',
    reason: 'the page of an engine with LMCache was recorded by itself',
  },
  ...['llmbench-sglang', 'llmbench-trtllm'].map((uid): OtherJob => ({
    of: 'simulated',
    uid,
    prefix: 'DCGM_',
    job: 'sim-dynamo',
    reason: 'an exporter of GPUs has a job of its own; none is simulated beside these systems',
  })),
];
