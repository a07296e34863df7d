import { dirname } from 'node:path';
import type { ShardRequest } from '../run/run-request.ts';

/** Stands behind a shard's status: its figures are of its own part of the load. */
export const shardMark = ({ part, parts }: ShardRequest['share']): string =>
  `  shard ${part} of ${parts}: the figures are of this part of the load alone`;

/** How the parts become one run; `shardDirectory` is the runs directory of this shard. */
export function mergeLine(runId: string, shardDirectory: string): string {
  const shards = dirname(shardDirectory);
  return `when all shards lie in ${shards}: llmbench merge ${runId} --runs-dir ${dirname(shards)}`;
}
