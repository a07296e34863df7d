import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { wattsOf, type GpuProgram, type GpuSample } from './gpu-sample.ts';

const FIELDS = '--query-gpu=count,uuid,name,power.draw';
const MAX_GPUS = 1024;

/** One process for the whole run, which prints a row for each GPU at each interval. */
export const NVIDIA_SMI: GpuProgram = {
  name: 'nvidia-smi',
  family: 'nvidia_smi_power_draw_watts',
  async sample(intervalSeconds, take, until) {
    const loop = `--loop-ms=${Math.round(intervalSeconds * 1000)}`;
    const child = spawn('nvidia-smi', [FIELDS, '--format=csv,noheader,nounits', loop], {
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
      env: process.env,
      signal: until,
    });
    const ended = once(child, 'close').then(
      () => (until.aborted ? null : `nvidia-smi ended with exit code ${child.exitCode ?? 'unknown'}`),
      (error: unknown) => {
        if (until.aborted) return null;
        throw error;
      },
    );
    let rows: GpuSample[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => {
      const row = rowOf(line);
      if (row === null || rows.length >= MAX_GPUS) return;
      rows.push(row.sample);
      if (rows.length < row.count) return;
      take(rows);
      rows = [];
    });
    // What a script in its place has started may hold the pipe open.
    return ended.finally(() => child.stdout.destroy());
  },
};

/** A row `count, uuid, name, watts`; null for messages. */
function rowOf(line: string): { readonly count: number; readonly sample: GpuSample } | null {
  const [count, gpu, model, watts] = line.split(',').map((cell) => cell.trim());
  if (count === undefined || !/^\d+$/.test(count) || !gpu) return null;
  return {
    count: Number(count),
    sample: { gpu, model: model === undefined || model === '' ? null : model, watts: wattsOf(watts) },
  };
}
