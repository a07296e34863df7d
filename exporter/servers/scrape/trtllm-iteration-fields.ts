import { loadCatalog } from '../../../catalog/load.ts';
import type { CatalogFamily, JsonSource } from '../../../catalog/types.ts';

/** One field of a row, and the catalog's family for it. */
export interface IterationField {
  readonly path: readonly string[];
  readonly family: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  /** Factor that converts the value to the family's unit. */
  readonly scale: number;
  /** True: each row holds the increase since the previous row. False: the newest row's value counts. */
  readonly added: boolean;
  /** Histograms: upper bounds without infinity. */
  readonly bounds: readonly number[];
}

export interface IterationFields {
  readonly ofRow: readonly IterationField[];
  /** Fields of each window of `kvCacheIterationStats`; their families have the label `window_size`. */
  readonly ofWindow: readonly IterationField[];
}

const WINDOW = 'kvCacheIterationStats.<windowSize>.';

/** The numeric fields from the catalog, without lists and without the statistics of single requests. */
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
