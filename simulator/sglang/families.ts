import { loadCatalog } from '../../catalog/load.ts';
import type { CatalogFamily } from '../../catalog/types.ts';
import { PageFamilies } from '../metrics/page-families.ts';
import type { PageEntries } from '../metrics/page-families.ts';
import { SGLANG_COUNTERS } from './page/counters.ts';
import { SGLANG_GAUGES } from './page/gauges.ts';
import { SGLANG_HISTOGRAMS } from './page/histograms.ts';

/** The families of a page of SGLang 0.5.23 with its usual switches. */
export const SGLANG_PAGE: PageEntries = [...SGLANG_HISTOGRAMS, ...SGLANG_GAUGES, ...SGLANG_COUNTERS];

const EXPERT_PARALLEL_SIZE = 1;

/** Bounds that the catalog gives as a rule, for the server that is simulated. */
const RULED_BOUNDS: Readonly<Record<string, readonly number[]>> = {
  'sglang:eplb_gpu_physical_count': Array.from({ length: EXPERT_PARALLEL_SIZE }, (_, rank) => rank),
  'sglang:prefill_delayer_wait_forward_passes': [0, 5, 20, 50, 100, 200],
};

/** The required families that the usual page lacks: they need a switch, or an event. HELP is the catalog's. */
export function otherRequiredFamilies(): CatalogFamily[] {
  const usual = new Set(SGLANG_PAGE.map(([name]) => name));
  return loadCatalog('sglang').families.filter(
    ({ name, required, exposed }) => required && !usual.has(name) && exposed !== 'never' && exposed !== 'other_release',
  );
}

/** The families of a page of SGLang. */
export class SglangFamilies extends PageFamilies {
  constructor() {
    const others = otherRequiredFamilies().map(({ name, help }) => [name, help] as const);
    super({ catalogs: ['sglang'], entries: [...SGLANG_PAGE, ...others], boundsOf: ({ name }) => RULED_BOUNDS[name] });
  }
}
