import { cpus, freemem, totalmem } from 'node:os';

import { gpuUuid } from '../dcgm/dcgm-metrics.ts';
import { GPU_MEMORY_BYTES, GPU_POWER_LIMIT_WATTS } from '../dcgm/gpu-load.ts';
import type { GpuLoad } from '../dcgm/gpu-load.ts';
import type { MetricsPage } from '../metrics/page.ts';

const PINNED_POOL_BYTES = 256 * 2 ** 20;

interface CpuTimes {
  readonly idle: number;
  readonly all: number;
}

function cpuTimes(): CpuTimes {
  let idle = 0;
  let all = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return { idle, all };
}

/** What Triton polls of its machine: this one's processor and memory, the simulated GPUs. */
export class TritonHostMetrics {
  readonly #page: MetricsPage;
  readonly #gpus: readonly GpuLoad[];
  #cpu: CpuTimes = cpuTimes();

  constructor(page: MetricsPage, gpus: readonly GpuLoad[]) {
    this.#page = page;
    this.#gpus = gpus;
    page.scalar('nv_pinned_memory_pool_total_bytes').value = PINNED_POOL_BYTES;
    page.scalar('nv_pinned_memory_pool_used_bytes');
    page.scalar('nv_cpu_utilization');
  }

  /** @param now_ns on the engines' clock */
  update(now_ns: number): void {
    this.#updateCpu();
    for (const [gpu, load] of this.#gpus.entries()) {
      const { busyRatio, power_W, energy_J, usedMemory_bytes } = load.read(now_ns);
      const labels = { gpu_uuid: gpuUuid(gpu) };
      const set = (name: string, value: number): void => {
        this.#page.scalar(name, labels).value = value;
      };
      set('nv_gpu_utilization', busyRatio);
      set('nv_gpu_memory_total_bytes', GPU_MEMORY_BYTES);
      set('nv_gpu_memory_used_bytes', usedMemory_bytes);
      set('nv_gpu_power_usage', power_W);
      set('nv_gpu_power_limit', GPU_POWER_LIMIT_WATTS);
      this.#page.scalar('nv_energy_consumption', labels).value = energy_J;
    }
  }

  #updateCpu(): void {
    const now = cpuTimes();
    const passed = now.all - this.#cpu.all;
    const utilization = this.#page.scalar('nv_cpu_utilization');
    if (passed > 0) utilization.value = Math.min(1, Math.max(0, 1 - (now.idle - this.#cpu.idle) / passed));
    this.#cpu = now;
    this.#page.scalar('nv_cpu_memory_total_bytes').value = totalmem();
    this.#page.scalar('nv_cpu_memory_used_bytes').value = totalmem() - freemem();
  }
}
