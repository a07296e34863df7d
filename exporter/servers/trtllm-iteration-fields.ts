import { loadCatalog } from '../../catalog/load.ts';
import type { CatalogFamily, JsonSource } from '../../catalog/types.ts';

/** One field of a row, and the family that the catalog makes of it. */
export interface IterationField {
  readonly path: readonly string[];
  readonly family: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  /** What the value is multiplied by, so that it is in the family's unit. */
  readonly scale: number;
  /** True: rows hold what was added since the row before. Otherwise the newest row's value holds. */
  readonly added: boolean;
  /** Histograms: upper bounds without infinity. */
  readonly bounds: readonly number[];
}

export interface IterationFields {
  readonly ofRow: readonly IterationField[];
  /** Of each window of `kvCacheIterationStats`; their families have the label `window_size`. */
  readonly ofWindow: readonly IterationField[];
}

const WINDOW = 'kvCacheIterationStats.<windowSize>.';

/** The fields of numbers from the catalog. Lists and the statistics of single requests are not among them. */
export function iterationFields(): IterationFields {
  const ofRow: IterationField[] = [];
  const ofWindow: IterationField[] = [];
  for (const family of loadCatalog('trtllm-iteration-stats').families) {
    const { json, type } = family;
    if (json === undefined || json.kind === 'label' || json.path.includes('[]')) continue;
    if (type !== 'gauge' && type !== 'counter' && type !== 'histogram') continue;
    if (json.path.startsWith(WINDOW)) ofWindow.push(field(family, type, json, json.path.slice(WINDOW.length)));
    else if (!json.path.includes('<')) ofRow.push(field(family, type, json, json.path));
  }
  return { ofRow, ofWindow };
}

function field(
  { name, buckets }: CatalogFamily,
  type: IterationField['type'],
  { kind, scale }: JsonSource,
  path: string,
): IterationField {
  return {
    path: path.split('.'),
    family: name,
    type,
    scale,
    added: kind === 'delta' || type === 'histogram',
    bounds: Array.isArray(buckets) ? (buckets as readonly number[]) : [],
  };
}
