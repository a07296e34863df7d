import { execFile } from 'node:child_process';
import type { GpuFacts } from '../../core/run/provenance.ts';
import { isInstalled } from '../files/is-installed.ts';
import { rocmCards } from '../servers/local-gpus.ts';
import { factText, versionText, type InfoSeries } from './facts.ts';

const TIMEOUT_MILLISECONDS = 3000;
const MAX_BYTES = 2 ** 20;

/** What a program prints; null: it does not exist, fails, prints too much or takes too long. */
export function programOutput(file: string, args: readonly string[]): Promise<string | null> {
  if (!isInstalled(file)) return Promise.resolve(null);
  return new Promise((resolve) => {
    const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0' };
    const options = { timeout: TIMEOUT_MILLISECONDS, maxBuffer: MAX_BYTES, windowsHide: true, env };
    execFile(file, args, options, (error, stdout) => resolve(error === null ? stdout : null));
  });
}

const HERTZ_PER_MEGAHERTZ = 1e6;
const MAX_MODELS = 8;
const SM_CLOCK = 'DCGM_FI_DEV_SM_CLOCK';
const MEMORY_CLOCK = 'DCGM_FI_DEV_MEM_CLOCK';
const QUERY = '--query-gpu=uuid,name,driver_version,clocks.sm,clocks.mem';

/** One GPU as one source reports it; the clocks in hertz. */
interface SeenGpu {
  readonly model: string | null;
  readonly driver: string | null;
  readonly sm: number | null;
  readonly memory: number | null;
}

/** The GPUs on the pages of exporters, each once: two exporters may expose the same one. */
export function gpusOfExporters(series: readonly InfoSeries[]): readonly GpuFacts[] {
  return [...gpusOfDcgm(series), ...gpusOfAmd(series)];
}

function gpusOfAmd(series: readonly InfoSeries[]): readonly GpuFacts[] {
  const byId = new Map<string, SeenGpu>();
  for (const { family, labels, target } of series) {
    if (!family.startsWith('gpu_') || labels['card_model'] === undefined) continue;
    // Each partition of a GPU has a row of its own.
    const id = labels['serial_number'] ?? `${target} ${labels['gpu_id'] ?? ''}`;
    const driver = versionText(labels['driver_version']);
    byId.set(id, { model: factText(labels['card_model']), driver, sm: null, memory: null });
  }
  return byModel([...byId.values()], 'amd_exporter');
}

function gpusOfDcgm(series: readonly InfoSeries[]): readonly GpuFacts[] {
  const byId = new Map<string, SeenGpu>();
  for (const { family, labels, value, target } of series) {
    if (!family.startsWith('DCGM_FI_') || labels['modelName'] === undefined) continue;
    // A part of a GPU (MIG) has its own rows; the GPU itself is counted.
    const id = labels['UUID'] ?? `${target} ${labels['gpu'] ?? ''}`;
    const seen = byId.get(id);
    const clock = (name: string, before: number | null | undefined): number | null =>
      family === name && Number.isFinite(value) ? value * HERTZ_PER_MEGAHERTZ : (before ?? null);
    byId.set(id, {
      model: factText(labels['modelName']),
      driver: versionText(labels['DCGM_FI_DRIVER_VERSION']) ?? seen?.driver ?? null,
      sm: clock(SM_CLOCK, seen?.sm),
      memory: clock(MEMORY_CLOCK, seen?.memory),
    });
  }
  return byModel([...byId.values()], 'dcgm');
}

/** The GPUs of this machine; empty: there is none, or both `nvidia-smi` and `rocm-smi` are missing. */
export async function gpusOfThisMachine(): Promise<readonly GpuFacts[]> {
  const output = await programOutput('nvidia-smi', [QUERY, '--format=csv,noheader,nounits']);
  if (output !== null) return gpusOfCsv(output);
  const cards = await programOutput('rocm-smi', ['--showproductname', '--showdriverversion', '--json']);
  return cards === null ? [] : gpusOfRocm(cards);
}

/** Of the output of `rocm-smi`; empty if it is not its JSON. */
export function gpusOfRocm(json: string): readonly GpuFacts[] {
  const found = rocmCards(json);
  if (found === null) return [];
  const driver = versionText(found.system(/^Driver version$/i));
  const seen = found.cards.map(([, text]): SeenGpu => ({
    model: factText(text(/^Card series$/i)),
    driver,
    sm: null,
    memory: null,
  }));
  return byModel(seen, 'rocm_smi');
}

/** Rows of `nvidia-smi`: uuid, name, driver, clocks in MHz; a value that is not supported is `[N/A]`. */
export function gpusOfCsv(csv: string): readonly GpuFacts[] {
  const rows = csv.split('\n').filter((line) => line.trim() !== '');
  const clock = (text: string | undefined): number | null =>
    text !== undefined && /^\d+$/.test(text) ? Number(text) * HERTZ_PER_MEGAHERTZ : null;
  const seen = rows.map((line): SeenGpu => {
    const [, model, driver, sm, memory] = line.split(',').map((cell) => cell.trim());
    return { model: factText(model), driver: versionText(driver), sm: clock(sm), memory: clock(memory) };
  });
  return byModel(seen, 'nvidia_smi');
}

function byModel(gpus: readonly SeenGpu[], source: GpuFacts['source']): readonly GpuFacts[] {
  const groups = new Map<string, SeenGpu[]>();
  for (const gpu of gpus) {
    if (gpu.model === null) continue;
    const key = `${gpu.model}\n${gpu.driver ?? ''}`;
    groups.set(key, [...(groups.get(key) ?? []), gpu]);
  }
  return [...groups.values()].slice(0, MAX_MODELS).map((group) => ({
    model: group[0]?.model ?? '',
    count: group.length,
    driver_version: group[0]?.driver ?? null,
    sm_clock_hertz: highest(group.map(({ sm }) => sm)),
    memory_clock_hertz: highest(group.map(({ memory }) => memory)),
    source,
  }));
}

const highest = (values: readonly (number | null)[]): number | null =>
  values.reduce((most, value) => (value === null ? most : Math.max(most ?? value, value)), null);
