import { ScalarSeries } from '../servers/series/series.ts';
import type { TargetStore } from '../servers/series/target-store.ts';

/** A sample that describes a server, rather than its load. */
export interface InfoSeries {
  readonly target: string;
  readonly family: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Families of a configuration and of GPUs on the newest good page of a target. */
const DESCRIBES = /_info$|^DCGM_FI_|^gpu_(average_)?package_power$/;

export function infoSeries(target: string, store: TargetStore): readonly InfoSeries[] {
  const scrape = store.lastOkAt(Infinity);
  if (scrape < 0) return [];
  return store.series.flatMap((series) => {
    if (!(series instanceof ScalarSeries) || !DESCRIBES.test(series.family.name)) return [];
    const change = series.changeAt(scrape);
    if (change < 0 || series.isAbsent(change)) return [];
    return [{ target, family: series.family.name, labels: series.labels, value: series.value(change) }];
  });
}
