import { dirname } from 'node:path';
import type { ShardRequest } from '../../run/run-request.ts';

/** Suffix of a shard's status: its figures cover only its part of the load. */
export const shardMark = ({ part, parts }: ShardRequest['share']): string =>
  `  shard ${part} of ${parts}: the figures cover only this part of the load`;

/** How the parts become one run; `shardDirectory` is the runs directory of this shard. */
export function mergeLine(runId: string, shardDirectory: string): string {
  const shards = dirname(shardDirectory);
  return `when all shards are in ${shards}, run: llmbench merge ${runId} --runs-dir ${dirname(shards)}`;
}
