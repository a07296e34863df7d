import type { EngineEvent } from '../engine/events.ts';
import { KV_BYTES_PER_TOKEN, MODEL_BYTES, type EngineParameters } from '../engine/parameters.ts';
import type { Labels } from '../metrics/family.ts';
import { MetricsPage } from '../metrics/page.ts';
import { FORMATS } from '../metrics/write-page.ts';

/** What a GPU did since its last look, and what it holds. */
interface GpuReading {
  /** Share of the time that a step was running, 0 to 1. */
  readonly busyRatio: number;
  /** Mean since the last look, in watts: the energy's increase over the time. */
  readonly power_W: number;
  /** Since the start. */
  readonly energy_J: number;
  readonly usedMemory_bytes: number;
}

const NANOSECONDS_PER_SECOND = 1e9;
/** Looks that follow each other faster get the same response, as from a driver that samples. */
const LOOK_SECONDS = 0.5;

/** An accelerator of 80 GiB. */
export const GPU_MEMORY_BYTES = 80 * 2 ** 30;
export const GPU_POWER_LIMIT_WATTS = 700;
const IDLE_WATTS = 75;
const BUSY_WATTS = 620;
/** What an engine takes besides weights and cache: activations, graphs, libraries. */
const OVERHEAD_BYTES = 2.5e9;

/** The GPU under one engine: busy while a step runs; its memory is taken at the start and kept, as engines do. */
export class GpuLoad {
  readonly #usedMemory_bytes: number;
  #busy_ns = 0;
  #lookedAt_ns = 0;
  #busyAtLook_ns = 0;
  #reading: GpuReading;

  constructor({ numKvBlocks, blockSize }: EngineParameters) {
    const kvCache_bytes = numKvBlocks * blockSize * KV_BYTES_PER_TOKEN;
    this.#usedMemory_bytes = Math.min(GPU_MEMORY_BYTES, MODEL_BYTES + OVERHEAD_BYTES + kvCache_bytes);
    const usedMemory_bytes = this.#usedMemory_bytes;
    this.#reading = { busyRatio: 0, power_W: IDLE_WATTS, energy_J: 0, usedMemory_bytes };
  }

  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.kind === 'step') this.#busy_ns += event.time_ns - event.start_ns;
    }
  }

  /** @param now_ns on the engine's clock, whose origin is when the GPU came up */
  read(now_ns: number): GpuReading {
    const passed_ns = now_ns - this.#lookedAt_ns;
    if (passed_ns < LOOK_SECONDS * NANOSECONDS_PER_SECOND) return this.#reading;
    // A step counts when it ends: it may have begun before the last look.
    const busy_ns = Math.min(passed_ns, this.#busy_ns - this.#busyAtLook_ns);
    const busyRatio = busy_ns / passed_ns;
    const power_W = IDLE_WATTS + (BUSY_WATTS - IDLE_WATTS) * busyRatio;
    const energy_J = this.#reading.energy_J + (power_W * passed_ns) / NANOSECONDS_PER_SECOND;
    this.#lookedAt_ns = now_ns;
    this.#busyAtLook_ns += busy_ns;
    this.#reading = { busyRatio, power_W, energy_J, usedMemory_bytes: this.#usedMemory_bytes };
    return this.#reading;
  }
}

/** Of dcgm-exporter by default. */
export const DCGM_PORT = 9400;
/** Go's net/http guesses it from the text. */
export const DCGM_CONTENT_TYPE = 'text/plain; charset=utf-8';

const MEBIBYTE = 2 ** 20;
const RESERVED_BYTES = 0.6 * 2 ** 30;
const IDLE_CLOCK_MHZ = 345;
const BUSY_CLOCK_MHZ = 1980;
const MEMORY_CLOCK_MHZ = 2619;
const IDLE_CELSIUS = 31;
const BUSY_CELSIUS = 68;
/** How much of a busy GPU's time its parts are at work. */
const TENSOR_SHARE = 0.35;
const MEMORY_SHARE = 0.6;
const PCIE_BYTES_PER_BUSY_SECOND = 250e6;

function gpuLabels(gpu: number): Labels {
  return {
    gpu: `${gpu}`,
    UUID: `GPU-5eed0000-0000-4000-8000-${gpu.toString(16).padStart(12, '0')}`,
    pci_bus_id: `00000000:${(0x10 + gpu).toString(16).toUpperCase()}:00.0`,
    device: `nvidia${gpu}`,
    modelName: 'NVIDIA H100 80GB HBM3',
    Hostname: 'simulated',
    DCGM_FI_DRIVER_VERSION: '570.133.20',
  };
}

/** The `gpu_uuid` that other programs give to a GPU of the page. */
export function gpuUuid(gpu: number): string {
  return gpuLabels(gpu)['UUID'] ?? '';
}

/** What moves with the load; everything else on the page is 0. */
function valuesOf({ busyRatio, power_W, energy_J, usedMemory_bytes }: GpuReading): Record<string, number> {
  const used = Math.round(usedMemory_bytes / MEBIBYTE);
  const reserved = Math.round(RESERVED_BYTES / MEBIBYTE);
  return {
    DCGM_FI_DEV_SM_CLOCK: busyRatio > 0 ? BUSY_CLOCK_MHZ : IDLE_CLOCK_MHZ,
    DCGM_FI_DEV_MEM_CLOCK: MEMORY_CLOCK_MHZ,
    DCGM_FI_DEV_MEMORY_TEMP: Math.round(IDLE_CELSIUS + 6 + (BUSY_CELSIUS - IDLE_CELSIUS) * busyRatio),
    DCGM_FI_DEV_GPU_TEMP: Math.round(IDLE_CELSIUS + (BUSY_CELSIUS - IDLE_CELSIUS) * busyRatio),
    DCGM_FI_DEV_POWER_USAGE: power_W,
    DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION: Math.round(energy_J * 1000),
    DCGM_FI_DEV_GPU_UTIL: Math.round(100 * busyRatio),
    DCGM_FI_DEV_MEM_COPY_UTIL: Math.round(100 * MEMORY_SHARE * busyRatio),
    DCGM_FI_DEV_FB_FREE: Math.max(0, GPU_MEMORY_BYTES / MEBIBYTE - used - reserved),
    DCGM_FI_DEV_FB_USED: used,
    DCGM_FI_DEV_FB_RESERVED: reserved,
    DCGM_FI_PROF_GR_ENGINE_ACTIVE: busyRatio,
    DCGM_FI_PROF_PIPE_TENSOR_ACTIVE: TENSOR_SHARE * busyRatio,
    DCGM_FI_PROF_DRAM_ACTIVE: MEMORY_SHARE * busyRatio,
    DCGM_FI_PROF_PCIE_TX_BYTES: Math.round(PCIE_BYTES_PER_BUSY_SECOND * busyRatio),
    DCGM_FI_PROF_PCIE_RX_BYTES: Math.round(PCIE_BYTES_PER_BUSY_SECOND * busyRatio),
  };
}

/** The page of a DCGM exporter 4.5 with one GPU per engine, and the families of its default-counters.csv. */
export class DcgmMetrics {
  readonly #gpus: readonly GpuLoad[];
  readonly #page = new MetricsPage({ catalogs: ['dcgm'], parts: ['exporter'], format: FORMATS.GO });

  constructor(gpus: readonly GpuLoad[]) {
    this.#gpus = gpus;
  }

  /** @param now_ns on the engines' clock */
  page(now_ns: number): string {
    for (const [gpu, load] of this.#gpus.entries()) {
      const values = valuesOf(load.read(now_ns));
      for (const { facts } of this.#page.entries()) {
        const noError = facts.name === 'DCGM_FI_DEV_XID_ERRORS' ? { err_code: '0', err_msg: 'No Error' } : {};
        this.#page.scalar(facts.name, { ...gpuLabels(gpu), ...noError }).value = values[facts.name] ?? 0;
      }
    }
    return this.#page.text();
  }
}
