import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench, BenchContext, Row } from './bench.ts';
import { lastJsonLine, numberOf, runProgram } from './child-program.ts';
import { writeShards } from './sharded-run.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
const PEAK_MEMORY = new URL('peak-memory.ts', import.meta.url).href;
const SHARDS = 64;
const CHUNKS = 16;
const SIZES = [100_000, 1_000_000, 10_000_000];
const PEAK_TARGET_MB = 1024;
const TIMEOUT_SECONDS = 7200;

/**
 * The question: can one pod merge what 64 have measured?
 * Measured: `llmbench merge` of generated records with 16 chunks a response, in a closed loop, at growing numbers of
 * requests: its CPU time for each request and its peak memory, whole command, with the report.
 * It does not show: the download and the upload of the shards, responses of other lengths, a slow disk.
 */
export const merge: Bench = {
  name: 'merge',
  question: 'do the memory of merging shards and its time per request grow with their number?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const rows: Row[] = [];
    for (const requests of SIZES) {
      const { cpu_s, peak_mb } = await merged(context, requests);
      const what = `${requests.toLocaleString('en-US')} requests of ${SHARDS} shards`;
      rows.push(
        { what: `${what}: CPU`, unit: 'µs each', ours: [(cpu_s * 1e6) / requests], peer: null, target: null },
        {
          what: 'peak memory',
          unit: 'MB',
          ours: [peak_mb],
          peer: null,
          target: { by: 'value', atMost: PEAK_TARGET_MB },
        },
      );
    }
    return rows;
  },
};

async function merged(context: BenchContext, requests: number): Promise<{ cpu_s: number; peak_mb: number }> {
  const folder = await mkdtemp(join(context.workshop.folder, 'merge-'));
  try {
    const requestsPerShard = Math.round(requests / SHARDS);
    await writeShards(folder, { runId: 'bench', shards: SHARDS, requestsPerShard, chunksPerRequest: CHUNKS });
    const args = ['--import', PEAK_MEMORY, LAUNCHER, 'merge', 'bench', '--runs-dir', folder];
    const { stdout } = await runProgram(process.execPath, args, { timeoutSeconds: TIMEOUT_SECONDS });
    const line = lastJsonLine(stdout);
    return { cpu_s: numberOf(line, 'cpu_s'), peak_mb: numberOf(line, 'peak_mb') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
