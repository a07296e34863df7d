import { cpus, freemem, totalmem } from 'node:os';
import {
  gpuUuid,
  GPU_MEMORY_BYTES,
  GPU_POWER_LIMIT_WATTS,
  DCGM_CONTENT_TYPE,
  DCGM_PORT,
  DcgmMetrics,
  type GpuLoad,
} from '../dcgm/dcgm-metrics.ts';
import { ServerFaults } from '../faults/plan.ts';
import { RestartingServer } from '../faults/restarting-server.ts';
import { MonotonicClock } from '../http/engine-driver.ts';
import { metricsServer, Site, pagePort } from '../http/site.ts';
import { TruthLog } from '../http/truth-log.ts';
import { WindowedSummary } from '../metrics/family.ts';
import { MetricsPage } from '../metrics/page.ts';
import { FORMATS } from '../metrics/write-page.ts';
import type { StartOptions, StartedSystem } from '../start.ts';
import { TritonModel } from './model.ts';
import { ResponseCache, tritonServer, type ServedModel } from './server.ts';

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
class TritonHostMetrics {
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

/** As libevhtp sends it by default. */
export const TRITON_CONTENT_TYPE = 'text/plain';

const SECONDS_PER_NANOSECOND = 1e-9;

/**
 * Triton with three models, each on an engine and a GPU of its own: the requested one on the TensorRT-LLM backend,
 * `…-vllm` on the vLLM backend, and `…-cached`, which keeps its responses in the response cache. Metrics are on a port of
 * their own, and the GPUs on that of a DCGM exporter.
 */
export async function startTriton({ host, port: wanted, ...options }: StartOptions): Promise<StartedSystem> {
  const metrics = pagePort(8002, options.defaultPagePorts);
  const dcgm = pagePort(DCGM_PORT, options.defaultPagePorts);
  const server = new RestartingServer(() => {
    const triton = new Triton(options);
    const pages = [
      { server: metricsServer(TRITON_CONTENT_TYPE, () => triton.page()), address: metrics },
      { server: metricsServer(DCGM_CONTENT_TYPE, () => triton.dcgmPage()), address: dcgm },
    ];
    return new Site(triton.server, pages, () => triton.close());
  }, options.faults.restart);
  const port = await server.listen(wanted, host);
  const pageAt = ({ port }: { port: number }) => ({ port, path: '/metrics' });
  return { port, pages: [pageAt(metrics), pageAt(dcgm)], close: () => server.close() };
}

/** One run of a Triton server. */
class Triton {
  readonly server;
  readonly #clock = new MonotonicClock();
  readonly #families;
  readonly #models: readonly ServedModel[];
  readonly #host: TritonHostMetrics;
  readonly #cache = new ResponseCache();
  readonly #dcgm: DcgmMetrics;

  constructor({ model, parameters, faults, truthLimits }: Omit<StartOptions, 'host' | 'port'>) {
    const clock = this.#clock;
    this.#families = tritonFamilies(parameters.maxModelLen, () => clock.now_ns() * SECONDS_PER_NANOSECOND);
    this.#models = [
      { name: model, backend: 'tensorrtllm' as const, cache: null },
      { name: `${model}-vllm`, backend: 'vllm' as const, cache: null },
      { name: `${model}-cached`, backend: 'tensorrtllm' as const, cache: this.#cache },
    ].map(({ name, backend, cache }) => {
      const own = { model: name, backend, responseCache: cache !== null, parameters, clock, families: this.#families };
      return { name, model: new TritonModel(own), cache };
    });
    const gpus = this.#models.map((served) => served.model.gpu);
    this.#host = new TritonHostMetrics(this.#families, gpus);
    this.#dcgm = new DcgmMetrics(gpus);
    this.server = tritonServer({
      models: this.#models,
      parameters,
      clock,
      truth: new TruthLog(truthLimits),
      faults: new ServerFaults(faults, parameters.seed),
    });
  }

  page(): string {
    for (const { model } of this.#models) model.update();
    this.#host.update(this.#clock.now_ns());
    this.#cache.update(this.#families);
    return this.#families.text();
  }

  dcgmPage(): string {
    for (const { model } of this.#models) model.update();
    return this.#dcgm.page(this.#clock.now_ns());
  }

  close(): void {
    for (const { model } of this.#models) model.driver.close();
  }
}

/**
 * The families of Triton's page.
 *
 * @param nowSeconds any clock that does not go back, for the window of the summaries
 */
export function tritonFamilies(maxModelLen: number, nowSeconds: () => number): MetricsPage {
  return new MetricsPage({
    catalogs: ['triton', 'triton-trtllm-backend', 'triton-vllm-backend'],
    // In the order of prometheus-cpp's registry: by type, each in the order of registration.
    parts: ['counters', 'gauges', 'histograms', 'summaries'],
    format: FORMATS.CPP,
    maxModelLen,
    makeSummary: () => new WindowedSummary(nowSeconds),
  });
}
