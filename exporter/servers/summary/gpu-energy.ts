import type { GpuEnergy } from '../../../core/run/result.ts';
import { repeats, type CollectedTarget, type Collection } from '../collection.ts';
import { counterGain } from '../series/cumulative-window.ts';
import { gaugeStatistics } from '../series/gauge-statistics.ts';
import { ScalarSeries } from '../series/series.ts';

/** Counters of energy since the start, with the factor that converts them to joules. */
const ENERGY_JOULES: Readonly<Record<string, number>> = {
  DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION: 1e-3,
  nv_energy_consumption: 1,
};
/** Gauges of power in watts. */
const POWER: ReadonlySet<string> = new Set(['DCGM_FI_DEV_POWER_USAGE', 'nv_gpu_power_usage']);

/**
 * Counters of generated tokens, in the order in which a request passes their systems; the first that increased is used.
 */
const OUTPUT_TOKENS = [
  'dynamo_frontend_output_tokens_total',
  'vllm:generation_tokens_total',
  'sglang:generation_tokens_total',
  'trtllm_generation_tokens_total',
];

/**
 * Energy that the GPUs of all targets used in the window, each GPU once: from their energy counters, else from their
 * power. Null: no target exposes either. The counters are read at the scrapes around the window, so they cover slightly
 * more than the window.
 */
export function gpuEnergy(collection: Collection): GpuEnergy | null {
  const counted = joulesByGpu(collection, energyOf);
  const measured = counted.size > 0 ? counted : joulesByGpu(collection, powerOf);
  if (measured.size === 0) return null;
  const joules = [...measured.values()].reduce((sum, each) => sum + each, 0);
  const tokens = outputTokens(collection);
  return {
    joules,
    gpus: measured.size,
    source: counted.size > 0 ? 'energy_counter' : 'power',
    joules_per_output_token: tokens === null || tokens === 0 ? null : joules / tokens,
  };
}

type JoulesOf = (series: ScalarSeries, target: CollectedTarget) => number | null;

/** Two exporters may expose the same GPU, identified by its UUID. */
function joulesByGpu({ targets }: Collection, read: JoulesOf): Map<string, number> {
  const byGpu = new Map<string, number>();
  for (const target of targets) {
    for (const series of target.store.series) {
      const joules = series instanceof ScalarSeries ? read(series, target) : null;
      const { labels } = series;
      const gpu = labels['UUID'] ?? labels['gpu_uuid'] ?? `${target.name} ${labels['gpu'] ?? ''}`;
      if (joules !== null && !byGpu.has(gpu)) byGpu.set(gpu, joules);
    }
  }
  return byGpu;
}

const energyOf: JoulesOf = (series, { store, window }) => {
  const factor = ENERGY_JOULES[series.family.name];
  if (factor === undefined) return null;
  const gain = counterGain(series, store, window.range);
  return gain === null ? null : gain.increase * factor;
};

const powerOf: JoulesOf = (series, { store, window }) => {
  if (!POWER.has(series.family.name)) return null;
  const { mean } = gaugeStatistics(series, store, window);
  return mean === null ? null : (mean * (window.end_ns - window.start_ns)) / 1e9;
};

function outputTokens(collection: Collection): number | null {
  for (const family of OUTPUT_TOKENS) {
    const gains = collection.targets.flatMap(({ store, window }) =>
      store.series
        .filter((series): series is ScalarSeries => series instanceof ScalarSeries && series.family.name === family)
        .filter((series) => repeats(collection, series) === null)
        .map((series) => counterGain(series, store, window.range)?.increase ?? 0),
    );
    const tokens = gains.reduce((sum, gain) => sum + gain, 0);
    if (tokens > 0) return tokens;
  }
  return null;
}
