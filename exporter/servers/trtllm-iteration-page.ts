import { iterationFields, type IterationField } from './trtllm-iteration-fields.ts';

type Row = Readonly<Record<string, unknown>>;

/** Rows of iteration statistics, oldest first; null when the text is not such an array. An empty array is one. */
export function iterationRows(text: string): Row[] | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(parsed)) return null;
  const rows = parsed.filter((row): row is Row => typeof row === 'object' && row !== null && !Array.isArray(row));
  return rows.length === parsed.length && rows.every((row) => 'iter' in row || 'iterLatencyMS' in row) ? rows : null;
}

interface Series {
  readonly field: IterationField;
  readonly labels: string;
  value: number;
  /** Histograms: observations per bucket, the last one above all bounds. */
  readonly counts: number[];
}

/**
 * What the iteration statistics of one server add up to, as a page of the text format. Reading drains them, so totals are
 * kept here: counters are sums over all rows seen, gauges are the newest row's, an empty answer changes nothing.
 * With attention data parallelism there is a row per rank; the newest row counts for gauges whatever its rank.
 */
export class IterationTotals {
  readonly #fields = iterationFields();
  readonly #series = new Map<string, Series>();
  #rows = 0;
  #lastIteration: number | null = null;
  #missed = 0;

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#rows += 1;
      this.#countMissed(row);
      for (const field of this.#fields.ofRow) this.#take(field, valueAt(row, field.path), '');
      const windows = row['kvCacheIterationStats'];
      if (typeof windows !== 'object' || windows === null) continue;
      for (const [size, values] of Object.entries(windows)) {
        const labels = `window_size=${JSON.stringify(size)}`;
        for (const field of this.#fields.ofWindow) this.#take(field, valueAt(values, field.path), labels);
      }
    }
  }

  page(): Uint8Array {
    const lines: string[] = [];
    for (const [family, series] of Map.groupBy(this.#series.values(), ({ field }) => field.family)) {
      lines.push(`# TYPE ${family} ${series[0]?.field.type ?? 'gauge'}`);
      for (const each of series) lines.push(...linesOf(each));
    }
    // Of this program, not of the server: how much of the drained data was seen.
    lines.push('# TYPE trtllm_iter_rows_read_total counter', `trtllm_iter_rows_read_total ${this.#rows}`);
    lines.push('# TYPE trtllm_iter_rows_missed_total counter', `trtllm_iter_rows_missed_total ${this.#missed}`);
    return new TextEncoder().encode(`${lines.join('\n')}\n`);
  }

  /** Numbers that were skipped went to another reader, or the server had to drop them. Ranks repeat a number. */
  #countMissed(row: Row): void {
    const iteration = row['iter'];
    if (typeof iteration !== 'number') return;
    const last = this.#lastIteration;
    if (last !== null && iteration > last + 1) this.#missed += iteration - last - 1;
    this.#lastIteration = iteration;
  }

  #take(field: IterationField, given: unknown, labels: string): void {
    if (typeof given !== 'number' || !Number.isFinite(given)) return;
    const key = `${field.family} ${labels}`;
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
    value = (value as Row)[key];
  }
  return value;
}

function linesOf({ field: { family, type, bounds }, labels, value, counts }: Series): string[] {
  const set = (more = ''): string => {
    const all = [labels, more].filter((each) => each !== '').join(',');
    return all === '' ? '' : `{${all}}`;
  };
  if (type !== 'histogram') return [`${family}${set()} ${value}`];
  let total = 0;
  const buckets = counts.map((count, i) => {
    total += count;
    return `${family}_bucket${set(`le="${bounds[i] ?? '+Inf'}"`)} ${total}`;
  });
  return [...buckets, `${family}_sum${set()} ${value}`, `${family}_count${set()} ${total}`];
}
