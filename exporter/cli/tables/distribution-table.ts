import { longTitle, measureOfName } from '../../../core/measures/names.ts';
import { FAILED_OUTCOMES } from '../../../core/run/record.ts';
import type { DistributionResult, MeasureResult, ResultFile } from '../../../core/run/result.ts';
import { PERCENTILE_NAMES, type PercentileName } from '../../../core/stats/percentiles.ts';
import { ABSENT, counted, quantity, quantityRange, significant } from '../../../core/text/quantities.ts';
import { columnBlocks, type TableColumn } from './column-blocks.ts';

/** The distributions of the table, with their names where the usual one is too long or wrong in it. */
const ROWS: readonly (readonly [measure: string, name?: string])[] = [
  ['time_to_first_token'],
  ['time_to_first_output_token', 'to first output (TTFO)'],
  ['inter_token_latency'],
  ['inter_chunk_latency'],
  ['request_latency'],
  ['request_latency_from_due', '  from the due time'],
  ['schedule_delay'],
  ['input_sequence_length', 'input tokens (ISL)'],
  ['output_sequence_length', 'output tokens (OSL)'],
];

/** Repeated over all requests when some failed. */
const WITH_FAILED = ['time_to_first_token', 'request_latency'];

const TOO_FEW = 'too few';

interface Row {
  readonly name: string;
  readonly found: DistributionResult;
}

/** Mean, percentiles, their uncertainty and n of each distribution of a run, in lines of at most `width` characters. */
export function distributionTable(result: ResultFile, width?: number): string[] {
  const rows = rowsOf(result);
  if (rows.length === 0) return [result.requests.ok === null ? 'no latencies are known' : 'no successful request'];
  const lines = columnBlocks(columnsOf(rows), width);
  const isTooFew = lines.some((line) => line.includes(TOO_FEW));
  const legend = `${TOO_FEW}: fewer than five independent values are expected beyond the p99`;
  return isTooFew ? [...lines, '', legend] : lines;
}

function rowsOf({ requests, measures }: ResultFile): Row[] {
  const someFailed = FAILED_OUTCOMES.some((outcome) => (requests[outcome] ?? 0) > 0);
  return ROWS.flatMap(([published, name]) => {
    const { measure, clock } = measureOfName(published);
    const again = someFailed && clock === 'sent' && WITH_FAILED.includes(measure);
    return (again ? (['ok', 'all'] as const) : (['ok'] as const)).flatMap((population) => {
      const found = distribution(measures, measure, clock, population);
      if (found === undefined || found.n === 0 || isNoNews(found, measures)) return [];
      return [{ name: population === 'ok' ? (name ?? longTitle(found)) : '  with failed as infinite', found }];
    });
  });
}

function columnsOf(rows: readonly Row[]): TableColumn[] {
  const column = (head: string, cell: (found: DistributionResult) => string): TableColumn => ({
    head: [head],
    cells: rows.map(({ found }) => cell(found)),
  });
  const of = (value: (found: DistributionResult) => number | null) => (found: DistributionResult) =>
    valueText(value(found), found);
  return [
    { head: [''], cells: rows.map(({ name }) => name) },
    column(
      'mean',
      of(({ mean }) => mean),
    ),
    ...PERCENTILE_NAMES.filter((name) => SHOWN.has(name)).map((name) => column(name, percentileText(name))),
    column(
      'max',
      of(({ max }) => max),
    ),
    column('p99 95 % interval', interval),
    column('n', ({ n }) => counted(n)),
    column('effective n', ({ effective_n: n }) => (n === null ? ABSENT : significant(Math.floor(n)))),
  ];
}

const SHOWN: ReadonlySet<string> = new Set(['p50', 'p90', 'p95', 'p99']);

/** The name of a row says when its values are tokens. */
function valueText(value: number | null, { unit }: DistributionResult): string {
  if (value === null) return ABSENT;
  return unit === 'tokens' ? significant(value) : quantity(value, unit);
}

/** Of buckets alone the interval is known. */
const percentileText =
  (name: PercentileName) =>
  (found: DistributionResult): string => {
    const { value, bounds } = found.percentiles[name];
    return value === null && bounds !== null ? `[${rangeText(bounds, found)}]` : valueText(value, found);
  };

const rangeText = (ends: readonly [number, number], { unit }: DistributionResult): string =>
  unit === 'tokens' ? `${significant(ends[0])} – ${significant(ends[1])}` : quantityRange(ends, unit);

function interval(found: DistributionResult): string {
  const { percentiles, effective_n: n } = found;
  const { value, ci95, bounds } = percentiles.p99;
  const range = (ends: readonly [number, number]): string => rangeText(ends, found);
  if (ci95 !== null) return range(ci95);
  if (bounds !== null) return `[${range(bounds)}]`;
  return value === null || n === null ? ABSENT : TOO_FEW;
}

/** Without reasoning, first output and first token are the same: one line is enough. */
function isNoNews({ measure, n, mean }: DistributionResult, measures: readonly MeasureResult[]): boolean {
  if (measure !== 'time_to_first_output_token') return false;
  const first = distribution(measures, 'time_to_first_token', 'sent', 'ok');
  return first?.n === n && first.mean === mean;
}

function distribution(
  measures: readonly MeasureResult[],
  measure: string,
  clock: DistributionResult['clock'],
  population: 'ok' | 'all',
): DistributionResult | undefined {
  return measures.find(
    (m): m is DistributionResult =>
      m.kind === 'distribution' && m.measure === measure && m.clock === clock && m.population === population,
  );
}
