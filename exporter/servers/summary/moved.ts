import { isOfPage } from '../series/same-process.ts';
import { isCumulative, ScalarSeries, type Series } from '../series/series.ts';
import type { ScrapeRange } from '../series/cumulative-window.ts';
import type { TargetStore } from '../series/target-store.ts';
import { isEnergy } from './gpu-energy.ts';

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
