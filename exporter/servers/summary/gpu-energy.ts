import {
  energyFromCounter,
  energyFromPower,
  type EnergyWindow,
  type GpuReading,
  type WindowEnergy,
} from '../../../core/measures/energy-results.ts';
import type { EnergyOfGpu, EnergySource, GpuEnergy } from '../../../core/run/result.ts';
import type { CollectedTarget, Collection } from '../collection.ts';
import { NVIDIA_SMI, ROCM_SMI } from '../local-gpus.ts';
import type { ScrapeRange } from '../series/cumulative-window.ts';
import { isOfPage } from '../series/same-process.ts';
import { ScalarSeries, isCumulative, type Series } from '../series/series.ts';
import type { TargetStore } from '../series/target-store.ts';

/** A family that reports energy or power of GPUs. */
interface EnergyFamily {
  readonly family: string;
  readonly source: EnergySource;
  /** Converts its values to joules or watts. */
  readonly factor: number;
}

/** In the order in which they are used: of each GPU the first that determines its energy. */
const FAMILIES: readonly EnergyFamily[] = [
  { family: 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', source: 'energy_counter', factor: 1e-3 },
  { family: 'nv_energy_consumption', source: 'energy_counter', factor: 1 },
  // Of AMD's exporter; it types everything as gauge.
  { family: 'gpu_energy_consumed', source: 'energy_counter', factor: 1e-6 },
  { family: 'DCGM_FI_DEV_POWER_USAGE', source: 'power', factor: 1 },
  { family: 'nv_gpu_power_usage', source: 'power', factor: 1 },
  { family: 'gpu_package_power', source: 'power', factor: 1 },
  { family: 'gpu_average_package_power', source: 'power', factor: 1 },
  { family: 'gpu_power_usage', source: 'power', factor: 1 },
  { family: NVIDIA_SMI.family, source: 'power', factor: 1 },
  { family: ROCM_SMI.family, source: 'power', factor: 1 },
];
const NAMES: ReadonlySet<string> = new Set(FAMILIES.map(({ family }) => family));

/** Whether a target reports energy or power of GPUs. */
export function reportsEnergy(store: TargetStore): boolean {
  return store.series.some(isEnergy);
}

/** Whether it is energy or power of a GPU. */
const isEnergy = ({ family }: Series): boolean => NAMES.has(family.name);

/** A series of one GPU with what it was read from. */
interface GpuSeries {
  readonly series: ScalarSeries;
  readonly target: CollectedTarget;
}

/**
 * Energy that the GPUs of all targets took in the window, each GPU once: by its energy counter, else by its power. Null:
 * no target reports any. `firstRequest_ns`: when the first request of the run was sent to servers that were idle; null
 * when it is not known, then the idle power is not known either.
 */
export function gpuEnergy(collection: Collection, firstRequest_ns: number | null): GpuEnergy | null {
  const gpus = seriesByGpu(collection);
  if (gpus.size === 0) return null;
  const by_gpu = Array.from(gpus, ([gpu, series]) => energyOfGpu(gpu, series, collection.window, firstRequest_ns));
  const sources = new Set(by_gpu.map(({ source }) => source));
  return {
    joules: sum(by_gpu.map(({ joules }) => joules)),
    watts: sum(by_gpu.map(({ watts }) => watts)),
    idle_watts: sum(by_gpu.map(({ idle_watts }) => idle_watts)),
    gpus: by_gpu.length,
    source: sources.size === 1 ? (by_gpu[0]?.source ?? null) : null,
    resolution_seconds: by_gpu.reduce<number | null>(
      (longest, { resolution_seconds: each }) => (each === null ? longest : Math.max(longest ?? each, each)),
      null,
    ),
    by_gpu,
  };
}

/** Two exporters may report the same GPU, which its UUID identifies, and an exporter each partition of one. */
function seriesByGpu({ targets }: Collection): ReadonlyMap<string, readonly GpuSeries[]> {
  const gpus = new Map<string, GpuSeries[]>();
  for (const target of targets) {
    for (const series of target.store.series) {
      if (!(series instanceof ScalarSeries) || !isEnergy(series)) continue;
      const gpu = gpuOf(series, target);
      gpus.set(gpu, [...(gpus.get(gpu) ?? []), { series, target }]);
    }
  }
  return gpus;
}

const gpuOf = ({ labels }: Series, target: CollectedTarget): string =>
  labels['UUID'] ??
  labels['gpu_uuid'] ??
  labels['uuid'] ??
  labels['serial_number'] ??
  `${target.name} ${labels['gpu'] ?? labels['gpu_id'] ?? ''}`.trimEnd();

function energyOfGpu(
  gpu: string,
  all: readonly GpuSeries[],
  { start_ns, end_ns }: Collection['window'],
  firstRequest_ns: number | null,
): EnergyOfGpu {
  const window = { start_seconds: start_ns / 1e9, end_seconds: end_ns / 1e9 };
  const models = all.map(({ series: { labels } }) => labels['modelName'] ?? labels['card_model'] ?? labels['name']);
  const model = models.find((name) => name !== undefined) ?? null;
  const identity = { gpu, model, idle_watts: idleWatts(all, firstRequest_ns) };
  for (const { family, source, factor } of FAMILIES) {
    for (const { series, target } of all) {
      if (series.family.name !== family) continue;
      const readings = source === 'power' ? samplesOf(series, target) : changesOf(series, target);
      const found = energyOf(source, readings, window);
      if (found === null) continue;
      const joules = found.joules * factor;
      const watts = joules / (window.end_seconds - window.start_seconds);
      const { resolution_seconds } = found;
      return { ...identity, source, joules, watts, readings: nearWindow(readings, window), resolution_seconds };
    }
  }
  return { ...identity, source: null, joules: null, watts: null, readings: 0, resolution_seconds: null };
}

/** A counter that stands still is not one that works: no GPU takes no energy. */
function energyOf(source: EnergySource, readings: readonly GpuReading[], window: EnergyWindow): WindowEnergy | null {
  return source === 'power' ? energyFromPower(readings, window) : energyFromCounter(readings, window);
}

/** Readings in the window, with the ones next to it. */
function nearWindow(readings: readonly GpuReading[], { start_seconds, end_seconds }: EnergyWindow): number {
  const first = readings.findLastIndex(({ at_seconds }) => at_seconds <= start_seconds);
  const after = readings.findIndex(({ at_seconds }) => at_seconds >= end_seconds);
  return (after < 0 ? readings.length - 1 : after) - Math.max(0, first) + 1;
}

/**
 * When the counter was seen with a new value. The exporter may have read the first one long before it was scraped: one
 * of its own intervals before the second.
 */
function changesOf(series: ScalarSeries, { store }: CollectedTarget): readonly GpuReading[] {
  const changes: GpuReading[] = [];
  for (let change = 0; change < series.changes; change++) {
    const value = series.isAbsent(change) ? NaN : series.value(change);
    if (isKnown(value)) changes.push({ at_seconds: store.at_ns(series.scrapeOf(change)) / 1e9, value });
  }
  const [first, second] = changes;
  if (first === undefined || second === undefined) return changes;
  const gaps = changes.slice(2).map(({ at_seconds }, i) => at_seconds - (changes[i + 1]?.at_seconds ?? NaN));
  const interval = gaps.sort((a, b) => a - b)[gaps.length >> 1];
  // With two values the interval is not known, and neither is the time of the first.
  if (interval === undefined) return changes.slice(1);
  return [{ ...first, at_seconds: Math.min(first.at_seconds, second.at_seconds - interval) }, ...changes.slice(1)];
}

/** DCGM writes a value that it cannot read as one near 2^63. */
const isKnown = (value: number): boolean => value >= 0 && value < 1e18;

/** The value at each scrape. */
function samplesOf(series: ScalarSeries, { store }: CollectedTarget): readonly GpuReading[] {
  const samples: GpuReading[] = [];
  for (let scrape = series.bornAt; scrape < store.scrapes; scrape++) {
    const change = series.changeAt(scrape);
    const value = !store.isOk(scrape) || change < 0 || series.isAbsent(change) ? NaN : series.value(change);
    if (isKnown(value)) samples.push({ at_seconds: store.at_ns(scrape) / 1e9, value });
  }
  return samples;
}

/** The lowest: the power falls for a while after earlier requests. */
function idleWatts(all: readonly GpuSeries[], firstRequest_ns: number | null): number | null {
  if (firstRequest_ns === null) return null;
  const before = FAMILIES.filter(({ source }) => source === 'power').flatMap(({ family, factor }) =>
    all
      .filter(({ series }) => series.family.name === family)
      .flatMap(({ series, target }) => samplesOf(series, target))
      .filter(({ at_seconds }) => at_seconds * 1e9 < firstRequest_ns)
      .map(({ value }) => value * factor),
  );
  return before.length === 0 ? null : Math.min(...before);
}

function sum(values: readonly (number | null)[]): number | null {
  return values.reduce((total, value) => (total === null || value === null ? null : total + value), 0 as number | null);
}

/** Gauges above 0 while a GPU works. */
const GPU_ACTIVITY: ReadonlySet<string> = new Set([
  'DCGM_FI_DEV_GPU_UTIL',
  'DCGM_FI_PROF_GR_ENGINE_ACTIVE',
  'gpu_gfx_activity',
  'gpu_gfx_busy_instantaneous',
]);

/**
 * Whether what a page counts moved between two scrapes. An exporter of GPUs counts energy also for idle ones: it did not move
 * if it was read anew, with no GPU at work.
 */
export function movedWithin(store: TargetStore, system: string | null, { from, to }: ScrapeRange): boolean {
  const changed = (series: Series): boolean => changesWithin(series, from, to);
  if (system !== 'dcgm' && system !== 'amd-gpu')
    return store.series.some(
      (series) => isCumulative(series) && !isOfPage(series) && !isEnergy(series) && changed(series),
    );
  const activity = store.series.filter(({ family }) => GPU_ACTIVITY.has(family.name));
  return activity.length === 0 || !store.series.some(changed) || activity.some((each) => exceedsZero(each, from, to));
}

function changesWithin(series: Series, from: number, to: number): boolean {
  const change = series.lastValueAt(series.changeAt(to));
  return change >= 0 && series.scrapeOf(change) > from && (change > 0 || series.bornAt > from) && to >= 0;
}

function exceedsZero(series: Series, from: number, to: number): boolean {
  if (!(series instanceof ScalarSeries)) return false;
  for (let change = Math.max(0, series.changeAt(from)); change <= series.changeAt(to); change++)
    if (series.value(change) > 0) return true;
  return false;
}
