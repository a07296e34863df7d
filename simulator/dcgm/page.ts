import type { PageEntries } from '../metrics/page-families.ts';

/** The families that the DCGM exporter's default-counters.csv switches on, with its HELP texts. */
export const DCGM_PAGE: PageEntries = [
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
