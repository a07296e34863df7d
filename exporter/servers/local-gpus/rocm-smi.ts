import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { rocmCards } from './rocm-cards.ts';
import { wattsOf, type GpuProgram, type GpuSample } from './gpu-sample.ts';

const QUERY = ['--showpower', '--showuniqueid', '--showproductname', '--json'];
const LIMITS = { timeout: 10_000, maxBuffer: 2 ** 20, windowsHide: true } as const;
const MAX_FAILURES = 3;
const run = promisify(execFile);

/** It has no loop: it is started anew for each sample. */
export const ROCM_SMI: GpuProgram = {
  name: 'rocm-smi',
  family: 'rocm_smi_power_watts',
  async sample(intervalSeconds, take, until) {
    for (let failures = 0; ;) {
      // Aborted with the run.
      const due = sleep(intervalSeconds * 1000, undefined, { signal: until }).catch(() => undefined);
      try {
        const { stdout } = await run('rocm-smi', QUERY, { ...LIMITS, env: process.env, signal: until });
        take(samplesOf(stdout));
        failures = 0;
      } catch (error) {
        if (until.aborted) return null;
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
        failures += 1;
        if (failures >= MAX_FAILURES) return `rocm-smi failed ${MAX_FAILURES} times in a row`;
      }
      await due;
      if (until.aborted) return null;
    }
  },
};

/** The power is `Current Socket Graphics Package Power (W)`, on older GPUs the average. Throws when `json` is not JSON. */
export function samplesOf(json: string): readonly GpuSample[] {
  const found = rocmCards(json);
  if (found === null) throw new Error('the output of rocm-smi is not a JSON object');
  return found.cards.map(([card, text]) => {
    const id = text(/^Unique ID$/i);
    const gpu = id === undefined || /^N\/A$/i.test(id) ? card : id;
    return { gpu, model: text(/^Card series$/i) ?? null, watts: wattsOf(text(/Package Power \(W\)$/i)) };
  });
}
