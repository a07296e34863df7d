import { expect, test } from '@jest/globals';
import { shardDirectory } from '../../store/shards/shard-folders.ts';
import { mergeLine, shardMark } from './shard-lines.ts';

test('a shard says that it is one, and how the run becomes whole', () => {
  expect(shardMark({ part: 1, parts: 4 })).toContain('shard 1 of 4');
  expect(mergeLine('night-7', shardDirectory('/data/runs', 'night-7', '1'))).toBe(
    'when all shards are in /data/runs/night-7.shards, run: llmbench merge night-7 --runs-dir /data/runs',
  );
});
