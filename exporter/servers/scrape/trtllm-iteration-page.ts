import { writePage } from '../../../core/exposition/index.ts';
import type { FamilyInput, SampleInput } from '../../../core/exposition/index.ts';
import { loadCatalog } from '../../../catalog/load.ts';
import type { CatalogFamily, JsonSource } from '../../../catalog/types.ts';

type IterationRow = Readonly<Record<string, unknown>>;

/** Rows of iteration statistics, oldest first; null when the text is not such an array. An empty array is valid. */
export function iterationRows(text: string): IterationRow[] | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(parsed)) return null;
  const rows = parsed.filter(
    (row): row is IterationRow => typeof row === 'object' && row !== null && !Array.isArray(row),
  );
  return rows.length === parsed.length && rows.every((row) => 'iter' in row || 'iterLatencyMS' in row) ? rows : null;
}

interface AccumulatedSeries {
  readonly field: IterationField;
  readonly labels: Readonly<Record<string, string>>;
  value: number;
  /** Histograms: observations per bucket, the last one above all bounds. */
  readonly counts: number[];
}

/**
 * The accumulated iteration statistics of one server as a page of the text format. Reading drains them, so totals are
 * kept here: counters are sums over all rows seen, gauges have the value of the newest row, an empty response changes
 * nothing. With attention data parallelism each rank has its own rows; gauges use the newest row of any rank.
 */
export class IterationTotals {
  readonly #fields = iterationFields();
  readonly #series = new Map<string, AccumulatedSeries>();
  #rows = 0;
  #lastIteration: number | null = null;
  #missed = 0;

  add(rows: readonly IterationRow[]): void {
    for (const row of rows) {
      this.#rows += 1;
      this.#countMissed(row);
      for (const field of this.#fields.ofRow) this.#take(field, valueAt(row, field.path), {});
      const windows = row['kvCacheIterationStats'];
      if (typeof windows !== 'object' || windows === null) continue;
      for (const [size, values] of Object.entries(windows)) {
        const labels = { window_size: size };
        for (const field of this.#fields.ofWindow) this.#take(field, valueAt(values, field.path), labels);
      }
    }
  }

  page(): Uint8Array {
    const byFamily = Map.groupBy(this.#series.values(), ({ field }) => field.family);
    const families = [...byFamily].map(([name, series]): FamilyInput => ({
      name,
      help: '',
      type: series[0]?.field.type ?? 'gauge',
      samples: series.flatMap(samplesOf),
    }));
    // Counted by this program, not by the server: how much of the drained data was seen.
    const own = (name: string, value: number): FamilyInput => ({
      name,
      help: '',
      type: 'counter',
      samples: [{ labels: {}, value }],
    });
    const rows = [own('trtllm_iter_rows_read_total', this.#rows), own('trtllm_iter_rows_missed_total', this.#missed)];
    return new TextEncoder().encode(writePage([...families, ...rows], 'text'));
  }

  /** Skipped numbers were read by another client or dropped by the server. Ranks repeat a number. */
  #countMissed(row: IterationRow): void {
    const iteration = row['iter'];
    if (typeof iteration !== 'number') return;
    const last = this.#lastIteration;
    if (last !== null && iteration > last + 1) this.#missed += iteration - last - 1;
    this.#lastIteration = iteration;
  }

  #take(field: IterationField, given: unknown, labels: AccumulatedSeries['labels']): void {
    if (typeof given !== 'number' || !Number.isFinite(given)) return;
    const key = `${field.family} ${labels['window_size'] ?? ''}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { field, labels, value: 0, counts: new Array<number>(field.bounds.length + 1).fill(0) };
      this.#series.set(key, series);
    }
    const value = given * field.scale;
    series.value = field.added ? series.value + value : value;
    const above = field.bounds.findIndex((bound) => value <= bound);
    const bucket = above < 0 ? field.bounds.length : above;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
  }
}

function valueAt(row: unknown, path: readonly string[]): unknown {
  let value = row;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as IterationRow)[key];
  }
  return value;
}

function samplesOf({ field: { family, type, bounds }, labels, value, counts }: AccumulatedSeries): SampleInput[] {
  if (type !== 'histogram') return [{ labels, value }];
  const of = (suffix: string, value: number, own = {}): SampleInput => ({
    metricName: family + suffix,
    sharedLabels: labels,
    labels: own,
    value,
  });
  let total = 0;
  const buckets = counts.map((count, i) => {
    total += count;
    return of('_bucket', total, { le: String(bounds[i] ?? '+Inf') });
  });
  return [...buckets, of('_sum', value), of('_count', total)];
}

/** One field of a row, and the catalog's family for it. */
interface IterationField {
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

interface IterationFields {
  readonly ofRow: readonly IterationField[];
  /** Fields of each window of `kvCacheIterationStats`; their families have the label `window_size`. */
  readonly ofWindow: readonly IterationField[];
}

const WINDOW = 'kvCacheIterationStats.<windowSize>.';

/** The numeric fields from the catalog, without lists and without the statistics of single requests. */
function iterationFields(): IterationFields {
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
