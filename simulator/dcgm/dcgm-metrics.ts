import type { Labels } from '../metrics/family.ts';
import { labelText } from '../metrics/label-text.ts';
import { PageFamilies, type PageEntries } from '../metrics/page-families.ts';
import { GPU_MEMORY_BYTES } from './gpu-load.ts';
import type { GpuLoad, GpuReading } from './gpu-load.ts';

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

/** A whole number as it is, any other with six digits after the point: as Go's `%d` and `%f`. */
function goNumber(value: number): string {
  return Number.isInteger(value) ? `${value}` : value.toFixed(6);
}

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

/** The page of a DCGM exporter 4.5 with one GPU per engine. */
export class DcgmMetrics {
  readonly #gpus: readonly GpuLoad[];
  readonly #families = new PageFamilies({ catalogs: ['dcgm'], entries: DCGM_PAGE });

  constructor(gpus: readonly GpuLoad[]) {
    this.#gpus = gpus;
  }

  /** @param now_ns on the engines' clock */
  page(now_ns: number): string {
    const values = this.#gpus.map((gpu) => valuesOf(gpu.read(now_ns)));
    let page = '';
    for (const { name, help, type } of this.#families.all()) {
      page += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
      for (const [gpu, value] of values.entries()) {
        const noError = name === 'DCGM_FI_DEV_XID_ERRORS' ? { err_code: '0', err_msg: 'No Error' } : {};
        // In the order of the exporter's template, not sorted.
        page += `${name}{${labelText({ ...gpuLabels(gpu), ...noError })}} ${goNumber(value[name] ?? 0)}\n`;
      }
    }
    return page;
  }
}

/** The families that the DCGM exporter's default-counters.csv switches on, with its HELP texts. */
const DCGM_PAGE: PageEntries = [
  ['DCGM_FI_DEV_SM_CLOCK', 'SM clock frequency (in MHz).'],
  ['DCGM_FI_DEV_MEM_CLOCK', 'Memory clock frequency (in MHz).'],
  ['DCGM_FI_DEV_MEMORY_TEMP', 'Memory temperature (in C).'],
  ['DCGM_FI_DEV_GPU_TEMP', 'GPU temperature (in C).'],
  ['DCGM_FI_DEV_POWER_USAGE', 'Power draw (in W).'],
  ['DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', 'Total energy consumption since boot (in mJ).'],
  ['DCGM_FI_DEV_PCIE_REPLAY_COUNTER', 'Total number of PCIe retries.'],
  ['DCGM_FI_DEV_GPU_UTIL', 'GPU utilization (in %).'],
  ['DCGM_FI_DEV_MEM_COPY_UTIL', 'Memory utilization (in %).'],
  ['DCGM_FI_DEV_ENC_UTIL', 'Encoder utilization (in %).'],
  ['DCGM_FI_DEV_DEC_UTIL', 'Decoder utilization (in %).'],
  ['DCGM_FI_DEV_XID_ERRORS', 'Value of the last XID error encountered.'],
  ['DCGM_FI_DEV_FB_FREE', 'Framebuffer memory free (in MiB).'],
  ['DCGM_FI_DEV_FB_USED', 'Framebuffer memory used (in MiB).'],
  ['DCGM_FI_DEV_FB_RESERVED', 'Framebuffer memory reserved (in MiB).'],
  ['DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL', 'Total number of NVLink bandwidth counters for all lanes.'],
  ['DCGM_FI_DEV_VGPU_LICENSE_STATUS', 'vGPU License status'],
  ['DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS', 'Number of remapped rows for uncorrectable errors'],
  ['DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS', 'Number of remapped rows for correctable errors'],
  ['DCGM_FI_DEV_ROW_REMAP_FAILURE', 'Whether remapping of rows has failed'],
  ['DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'Ratio of time the graphics engine is active.'],
  ['DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', 'Ratio of cycles the tensor (HMMA) pipe is active.'],
  ['DCGM_FI_PROF_DRAM_ACTIVE', 'Ratio of cycles the device memory interface is active sending or receiving data.'],
  [
    'DCGM_FI_PROF_PCIE_TX_BYTES',
    'The rate of data transmitted over the PCIe bus - including both protocol headers and data payloads - in bytes per second.',
  ],
  [
    'DCGM_FI_PROF_PCIE_RX_BYTES',
    'The rate of data received over the PCIe bus - including both protocol headers and data payloads - in bytes per second.',
  ],
];
