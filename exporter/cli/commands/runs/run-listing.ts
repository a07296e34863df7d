import { shortTitle } from '../../../../core/measures/names.ts';
import { loadText } from '../../../../core/run/load.ts';
import type { ObjectiveResult } from '../../../../core/run/objectives.ts';
import { countOf, FAILED_OUTCOMES } from '../../../../core/run/record.ts';
import { distributionOf, scalarOf, type MeasureResult, type ResultFile } from '../../../../core/run/result.ts';
import type { OrderedRun } from '../../../../core/run/run-id.ts';
import { ABSENT, counted, quantity, significant, things } from '../../../../core/text/quantities.ts';
import { readInBatches } from '../../../files/read-regular-file.ts';
import type { IndexedRun } from '../../../store/index/rows.ts';
import type { RunStore } from '../../../store/run-store.ts';
import { OBJECTIVE_VERDICTS } from '../../tables/result-table.ts';
import { PLAIN, type Paint } from '../../tables/layout.ts';

/** Control characters and line breaks, shown escaped as in JSON. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Makes text from a file (model and scenario names, …) safe for one terminal line. */
export function plainText(text: string): string {
  return text.replaceAll(CONTROL, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** Truncates to a width, marked with an ellipsis. */
export function cutTo(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

/** The figures of a run that a list of runs shows, in base units; null where the result has none. */
interface ListedFigures {
  /** The measure phase, from its first request to the end of its last. */
  readonly window_seconds: number | null;
  readonly requests: ResultFile['requests'];
  readonly request_throughput: number | null;
  readonly output_token_throughput: number | null;
  readonly time_to_first_token_seconds: LatencyFigures | null;
  readonly inter_token_latency_seconds: LatencyFigures | null;
  readonly request_latency_seconds: LatencyFigures | null;
  readonly client: ResultFile['client']['verdict'];
  /** The worst verdict of all objectives; null without objectives. */
  readonly slos: ObjectiveResult['verdict'] | null;
}

export interface LatencyFigures {
  readonly n: number | null;
  readonly p50: number | null;
  readonly p99: number | null;
}

/** A run of the list; its figures are null when result.json cannot be read. */
interface RunWithFigures extends IndexedRun {
  readonly figures: ListedFigures | null;
}

/** Reads only the results of the listed runs. */
export async function withFigures(store: RunStore, runs: readonly IndexedRun[]): Promise<RunWithFigures[]> {
  return readInBatches(runs, async (run) => ({ ...run, figures: await figuresOf(store, run) }));
}

async function figuresOf(store: RunStore, { run_id, damage }: IndexedRun): Promise<ListedFigures | null> {
  if (damage !== null) return null;
  try {
    return runFigures(await store.readResult(run_id));
  } catch {
    // `runs show` and `runs verify` say why.
    return null;
  }
}

export function runFigures({ window, requests, measures, client, slos }: ResultFile): ListedFigures {
  return {
    window_seconds: window.seconds,
    requests,
    request_throughput: scalarOf(measures, 'request_throughput')?.value ?? null,
    output_token_throughput: scalarOf(measures, 'output_token_throughput')?.value ?? null,
    time_to_first_token_seconds: latency(measures, 'time_to_first_token'),
    inter_token_latency_seconds: latency(measures, 'inter_token_latency'),
    request_latency_seconds: latency(measures, 'request_latency'),
    client: client.verdict,
    slos:
      (['not_met', 'undecided', 'met'] as const).find((verdict) => slos.some((slo) => slo.verdict === verdict)) ?? null,
  };
}

/** Over ok requests, measured from sending. */
function latency(measures: readonly MeasureResult[], name: string): LatencyFigures | null {
  const found = distributionOf(measures, name);
  if (found === undefined) return null;
  return { n: found.n, p50: found.percentiles.p50.value, p99: found.percentiles.p99.value };
}

/** Minimum width of text columns that may be truncated to fit the terminal. */
const MIN_WIDTH = 10;
const GAP = '  ';

interface Column {
  readonly head: string;
  readonly cell: (run: IndexedRun, figures: ListedFigures | null) => string;
  /** Right-aligned columns. */
  readonly isNumber?: true;
  /** Texts that are cut before a column is left out: an id must stay whole. */
  readonly isCut?: true;
  /** Verdicts, which a terminal shows in color. */
  readonly isVerdict?: true;
}

const TTFT_P50 = shortTitle('time_to_first_token', 'p50');
const TTFT_P99 = shortTitle('time_to_first_token', 'p99');
const ITL_P50 = shortTitle('inter_token_latency', 'p50');

const COLUMNS: readonly Column[] = [
  { head: 'run', cell: ({ run_id }) => run_id },
  { head: 'start (UTC)', cell: startText },
  { head: 'window', isNumber: true, cell: (_, figures) => quantity(figures?.window_seconds, 'seconds') },
  { head: 'scenario', isCut: true, cell: ({ scenario }) => plainText(scenario ?? ABSENT) },
  { head: 'model', isCut: true, cell: ({ model }) => plainText(model ?? ABSENT) },
  { head: 'system', isCut: true, cell: systemOf },
  { head: 'load', cell: ({ load_mode, ...load }) => loadText({ mode: load_mode, ...load }, 'column') || ABSENT },
  { head: 'dataset', cell: ({ dataset }) => plainText(dataset ?? ABSENT) },
  { head: 'ok', isNumber: true, cell: (_, figures) => counted(figures?.requests.ok) },
  {
    head: 'failed',
    isNumber: true,
    cell: (_, figures) => counted(figures && countOf(figures.requests, FAILED_OUTCOMES)),
  },
  { head: TTFT_P50, isNumber: true, cell: (_, figures) => seconds(figures?.time_to_first_token_seconds?.p50) },
  { head: TTFT_P99, isNumber: true, cell: (_, figures) => seconds(figures?.time_to_first_token_seconds?.p99) },
  { head: ITL_P50, isNumber: true, cell: (_, figures) => seconds(figures?.inter_token_latency_seconds?.p50) },
  { head: 'tokens/s', isNumber: true, cell: (_, figures) => rate(figures?.output_token_throughput) },
  { head: 'status', cell: statusOf, isVerdict: true },
  {
    head: 'SLO',
    cell: (_, figures) => (figures?.slos == null ? ABSENT : OBJECTIVE_VERDICTS[figures.slos]),
    isVerdict: true,
  },
  { head: 'client', cell: (_, figures) => (figures?.client === 'saturated' ? 'saturated' : ABSENT), isVerdict: true },
  { head: 'tags', isCut: true, cell: ({ tags }) => (tags.length === 0 ? ABSENT : tags.join(',')) },
];

/** An import without a start shows when it was imported, which is its place in the list. */
export function startText({ start, imported_at }: OrderedRun): string {
  const at = start ?? imported_at ?? null;
  return at === null ? ABSENT : `${start === null ? 'imported ' : ''}${at.slice(0, 16).replace('T', ' ')}`;
}

/** An incomplete run is marked wherever its status is shown. */
function statusOf({ status, missing_shards: missing }: IndexedRun): string {
  return missing === null || missing === 0 ? (status ?? ABSENT) : `${status}, ${things(missing, 'shards')} missing`;
}

/** Left out, the first of them first, of a list that is wider than the terminal. */
const LESS_NEEDED = [
  ...['system', ITL_P50, 'window', 'start (UTC)', 'tags', 'model', 'scenario', 'client', 'SLO', 'failed'],
  ...['tokens/s', TTFT_P50, 'ok', 'dataset', 'load', TTFT_P99],
];

/**
 * One line per run under a head. Of the datasets only that in which they differ is shown. Columns in which no run has
 * anything, or none a failure, are left out; what does not fit `width` is cut, and then left out, the less needed first.
 */
export function runListing(
  runs: readonly (IndexedRun | RunWithFigures)[],
  width: number,
  paint: Paint = PLAIN,
): string[] {
  const whole = withDistinctDatasets(runs.filter(({ damage }) => damage === null));
  const cells = new Map(
    whole.map((run) => [run, COLUMNS.map(({ cell }) => cell(run, 'figures' in run ? run.figures : null))]),
  );
  const filled = COLUMNS.map(
    ({ head }, i) =>
      i === 0 || [...cells.values()].some((row) => row[i] !== ABSENT && !(head === 'failed' && row[i] === '0')),
  );
  const columns = fitted([...cells.values()], filled, width);
  const line = (row: readonly string[], isHead = false): string =>
    columns
      .map(({ at, width: most }) => {
        const cell = cutTo(row[at] ?? '', most);
        const { isNumber = false, isVerdict = false } = COLUMNS[at] ?? {};
        return padded(cell, most, isNumber).replace(cell, () => (isVerdict && !isHead ? paint(cell) : cell));
      })
      .join(GAP)
      .trimEnd();
  const rows = new Map([...cells].map(([{ run_id }, row]) => [run_id, row]));
  const lines = runs.map((run) => {
    const row = rows.get(run.run_id);
    return row === undefined ? `${run.run_id}${GAP}cannot be read: ${plainText(run.damage ?? '')}` : line(row);
  });
  return whole.length === 0
    ? lines
    : [
        line(
          COLUMNS.map(({ head }) => head),
          true,
        ),
        ...lines,
      ];
}

/** The datasets without the options that all of them share; null where nothing is left. */
function withDistinctDatasets<T extends IndexedRun>(runs: readonly T[]): T[] {
  const options = runs.map(({ dataset }) => dataset?.split(', ') ?? null);
  const known = options.filter((each) => each !== null);
  const isShared = (option: string): boolean => known.every((each) => each.includes(option));
  return runs.map((run, i) => ({
    ...run,
    dataset: options[i]?.filter((option) => !isShared(option)).join(', ') || null,
  }));
}

interface FittedColumn {
  readonly at: number;
  width: number;
}

function fitted(rows: readonly (readonly string[])[], filled: readonly boolean[], width: number): FittedColumn[] {
  const all = COLUMNS.map(({ head }, at) => ({
    at,
    width: Math.max(head.length, ...rows.map((row) => row[at]?.length ?? 0)),
  })).filter(({ at }) => filled[at] === true);
  for (let dropped = 0; ; dropped++) {
    const without = new Set(LESS_NEEDED.slice(0, dropped));
    const kept = all.filter(({ at }) => !without.has(COLUMNS[at]?.head ?? '')).map((column) => ({ ...column }));
    if (shrunk(kept, width) || dropped === LESS_NEEDED.length) return kept;
  }
}

/** Takes from the widest of the columns that may be cut until a line fits; false when it cannot be made to. */
function shrunk(columns: readonly FittedColumn[], width: number): boolean {
  const cut = columns.filter(({ at }) => COLUMNS[at]?.isCut === true);
  const total = (): number => columns.reduce((sum, each) => sum + each.width + GAP.length, -GAP.length);
  while (total() > width) {
    const widest = cut.reduce<FittedColumn | null>((a, b) => (a === null || b.width > a.width ? b : a), null);
    if (widest === null || widest.width <= MIN_WIDTH) return false;
    widest.width -= 1;
  }
  return true;
}

const padded = (cell: string, width: number, isNumber: boolean): string =>
  isNumber ? cell.padStart(width) : cell.padEnd(width);

const seconds = (value: number | null | undefined): string => quantity(value, 'seconds');

const rate = (value: number | null | undefined): string => (value == null ? ABSENT : significant(value));

/** The server of our own runs; the tool of those that were imported. */
function systemOf({ tool, system }: IndexedRun): string {
  return plainText((tool === 'llmbench' ? system : tool) ?? ABSENT);
}
