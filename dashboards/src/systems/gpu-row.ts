import { detailsRow, lines, number, type RowSpec } from '../server/panel-spec.ts';
import { ServerQueries } from '../server/server-queries.ts';
import type { Choice } from '../variables.ts';

/** The exporters of GPU metrics have a job and addresses of their own. */
export const GPU_EXPORTER: Choice = {
  name: 'gpu_exporter',
  label: 'GPU exporter',
  description: 'Addresses of the DCGM exporters on the hosts of the servers; all unless some are chosen',
  family: 'DCGM_FI_DEV_GPU_UTIL',
  of: 'instance',
};

const APART = { by: ['gpu'] };

/** What the GPUs did: DCGM exporter. `outputTokens` is the counter of the servers' output tokens, with its selector. */
export function gpuRow(id: number, outputTokens: string): RowSpec {
  const q = new ServerQueries({ systems: ['dcgm'], exporter: 'gpu_exporter' });
  const energy = `sum(increase(${q.selector('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION')}[$__range])) / 1000`;
  return detailsRow(id, 'GPU (DCGM exporter)', [
    lines(
      'GPU utilization',
      'Share of the time in which any kernel ran. A high value means busy, not efficient; compare it with the tensor cores.',
      [q.gauge('DCGM_FI_DEV_GPU_UTIL', { ...APART, as: 'kernel ran' })],
      { max: 100 },
    ),
    lines(
      'Tensor cores and memory',
      'If the tensor cores are low and the memory is high, decoding is limited by memory bandwidth, and a larger batch costs almost nothing. If the tensor cores are high, prefill is limited by compute.',
      [
        q.gauge('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', { ...APART, as: 'tensor' }),
        q.gauge('DCGM_FI_PROF_DRAM_ACTIVE', { ...APART, as: 'memory' }),
        q.gauge('DCGM_FI_PROF_GR_ENGINE_ACTIVE', { ...APART, as: 'engine' }),
      ],
      { max: 1 },
    ),
    lines(
      'GPU memory',
      'Weights, KV cache and activations. Servers reserve most of it at their start, so a full GPU is normal; growth afterwards is not.',
      [
        q.gauge('DCGM_FI_DEV_FB_USED', { ...APART, as: 'used' }),
        q.gauge('DCGM_FI_DEV_FB_FREE', { ...APART, as: 'free' }),
      ],
    ),
    lines(
      'Power',
      'Board power. At the power limit, clocks fall and latencies rise. Compare only runs with equal power limits.',
      [q.gauge('DCGM_FI_DEV_POWER_USAGE', { ...APART, as: 'power' })],
    ),
    lines(
      'Temperature',
      'Near its temperature limit, the GPU lowers its clocks. Check the cooling first if a server becomes slow.',
      [
        q.gauge('DCGM_FI_DEV_GPU_TEMP', { ...APART, as: 'GPU' }),
        q.gauge('DCGM_FI_DEV_MEMORY_TEMP', { ...APART, as: 'memory' }),
      ],
    ),
    lines('Clock', 'A clock that falls under load indicates a power or temperature limit.', [
      q.highest('DCGM_FI_DEV_SM_CLOCK', { ...APART, as: 'SM' }),
      q.highest('DCGM_FI_DEV_MEM_CLOCK', { ...APART, as: 'memory' }),
    ]),
    number(
      'Energy per output token',
      'Energy of the chosen GPUs ÷ output tokens of the chosen servers, in the time range, idle time included. Choose the GPUs that belong to the servers.',
      [
        q.custom(
          `${energy} / sum(increase(${outputTokens}[$__range]))`,
          ['DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION'],
          { unit: 'joule' },
          'energy per token',
        ),
      ],
    ),
    lines(
      'Last XID error',
      'Code of the last error that the driver reported; 0 means none. With any other code, do not trust the run, and look the code up in the documentation of NVIDIA.',
      [q.highest('DCGM_FI_DEV_XID_ERRORS', { ...APART, as: 'XID' })],
    ),
  ]);
}
