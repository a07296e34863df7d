import { COST_MEASURES, currencyOf } from '../../../core/measures/energy-results.ts';
import { longTitle, measureOfName, shortTitle } from '../../../core/measures/names.ts';
import { SERVER_MEASURES, acceptanceByPosition, SPECULATION_MEASURES } from '../../../core/measures/scalar-results.ts';
import { steadinessText } from '../../../core/measures/time-slices.ts';
import { objectiveText } from '../../../core/objectives/grammar.ts';
import { stageText } from '../../../core/run/load.ts';
import { worstVerdict, type ObjectiveResult, type ObjectiveVerdict } from '../../../core/run/objectives.ts';
import { FAILED_OUTCOMES, countOf, OUTCOMES, type RequestCounts } from '../../../core/run/record.ts';
import {
  scalarOf,
  distributionOf,
  type BreakdownResult,
  type MeasureResult,
  type DistributionResult,
  type ResultFile,
  type StageResult,
  type ScalarResult,
} from '../../../core/run/result.ts';
import { PERCENTILE_NAMES, type PercentileName } from '../../../core/stats/percentiles.ts';
import {
  moneyText,
  ABSENT,
  counted,
  quantity,
  quantityRange,
  significant,
  things,
} from '../../../core/text/quantities.ts';
import { columnBlocks, TO_FILE, verdictLines, factLines, type TableColumn, type Print } from './layout.ts';
import { serverFacts, serverVerdict } from './server-lines.ts';

const { cost_per_million_output_tokens: OUTPUT, cost_per_million_total_tokens: TOTAL } = COST_MEASURES;

/** The cost per million tokens; none without a price. */
export function costFacts(measures: readonly MeasureResult[]): [name: string, text: string][] {
  const [output, total] = [OUTPUT, TOTAL].map(({ measure }) => scalarOf(measures, measure));
  if (output === undefined || total === undefined) return [];
  const parts = [
    ...(output.value === null ? [] : [`${moneyText(output.value, currencyOf(output))} per million output tokens`]),
    ...(total.value === null ? [] : [`${moneyText(total.value, currencyOf(total))} per million tokens in total`]),
  ];
  const unknown = 'unknown: the number of GPUs (--gpu-count) or the number of tokens is missing';
  return [['cost', parts.length === 0 ? unknown : parts.join(' · ')]];
}

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
function distributionTable(result: ResultFile, width?: number): string[] {
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
      const found = distributionOf(measures, measure, population, clock);
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
  const first = distributionOf(measures, 'time_to_first_token');
  return first?.n === n && first.mean === mean;
}

/** In a terminal and in logs, where what matters must be seen. */
export const OBJECTIVE_VERDICTS = { met: 'met', not_met: 'NOT MET', undecided: 'undecided' } as const;

const verdictText = (verdict: ObjectiveVerdict | null): string =>
  verdict === null ? ABSENT : OBJECTIVE_VERDICTS[verdict];

/** One fact per objective. */
export function objectiveLines(slos: readonly ObjectiveResult[], print: Print = TO_FILE): string[] {
  return slos.flatMap((slo) =>
    verdictLines('SLO', OBJECTIVE_VERDICTS[slo.verdict], `: ${objectiveText(slo)} (${evidence(slo)})`, print),
  );
}

function evidence({ value, interval, why, unit }: ObjectiveResult): string {
  const range = interval && `95 % interval ${quantity(interval[0], unit)} to ${quantity(interval[1], unit)}`;
  return [quantity(value, unit), range, why].filter((part) => part !== null).join('; ');
}

/**
 * The result for a person at a terminal, in the words of the field: what people look for, then the distributions, then
 * what explains them.
 */
export function resultTable(result: ResultFile, print: Print = TO_FILE): string {
  const { width } = print;
  const details: readonly (readonly [name: string, text: string])[] = [
    ['window', `${quantity(result.window.seconds, 'seconds')} from the first request to the end of the last`],
    ...overTime(result),
    ...network(result),
    ...conversationFacts(result),
    ...cacheHits(result),
    ...drafts(result),
    ...loadFit(result),
    ...imageFacts(result.measures),
    ...audioFacts(result.measures),
    ...stalls(result.measures),
    ...costFacts(result.measures),
    ...serverFacts(result),
  ];
  const tables = partTables(result, width);
  const breakdown = breakdownTable(result, width);
  const parts = [
    headline(result, print),
    ...tables.map(({ lines }) => lines),
    ...(tables.length === 0 ? [] : [[`all ${tables.map(({ of }) => of).join(' and ')} together:`]]),
    distributionTable(result, width),
    ...(breakdown.length === 0 ? [] : [breakdown]),
    details.flatMap(([name, text]) => factLines(name, text, width)),
  ];
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** Whether the level changed while the run lasted. */
function overTime({ slices }: ResultFile): [name: string, text: string][] {
  return steadinessText(slices).map((line, i) => [i === 0 ? 'over time' : '', line]);
}

function network({ network: found }: ResultFile): [name: string, text: string][] {
  if (found === undefined) return [];
  const [p50, min] = [found.p50_seconds, found.min_seconds].map((value) => quantity(value, 'seconds'));
  return [['network', `round trip p50 ${p50}, min ${min}, by ${things(found.connections, 'TCP handshakes')}`]];
}

/** Servers may count cached tokens without reporting them in `usage`; what the plan makes possible stands beside them. */
function cacheHits({ measures, prefix_cache: planned }: ResultFile): [name: string, text: string][] {
  const [usage, servers] = ['cached_input_ratio', SERVER_MEASURES.server_cached_input_ratio.measure].map((measure) =>
    scalarOf(measures, measure),
  );
  const parts = [
    ...(planned === undefined
      ? []
      : [`${quantity(planned.possible_ratio, 'ratio')} possible (blocks of ${planned.block_tokens} tokens)`]),
    ...(usage === undefined ? [] : [`${quantity(usage.value, 'ratio')} of the input tokens by usage`]),
    ...(servers?.value == null ? [] : [`${quantity(servers.value, 'ratio')} by the servers' counters`]),
  ];
  const why = (planned?.why ?? []).map((line): [string, string] => ['', `below possible: ${line}`]);
  return parts.length === 0 ? [] : [['cache hits', parts.join(' · ')], ...why];
}

/** What the model kept of the drafts of speculative decoding, by the servers' counters. */
function drafts({ measures, speculation }: ResultFile): [name: string, text: string][] {
  if (speculation === undefined) return [];
  const { accepted_tokens: accepted, draft_tokens: proposed, drafts: count } = speculation;
  const [rate, length] = Object.values(SPECULATION_MEASURES).map(({ measure }) => scalarOf(measures, measure));
  const positions = acceptanceByPosition(speculation)?.map((share) => quantity(share, 'ratio')) ?? [];
  const parts = [
    `acceptance ${quantity(rate?.value ?? null, 'ratio')} (${significant(accepted)} of ${significant(proposed)} draft tokens)`,
    `length ${quantity(length?.value ?? null, 'tokens')} (${things(count, 'drafts')})`,
    ...(positions.length < 2 ? [] : [`by position ${positions.join(', ')}`]),
  ];
  return [['drafts', parts.join(' · ')]];
}

const FITTED = { request_rate: 'rate', input_tokens: 'ISL', output_tokens: 'OSL', cached_input_ratio: 'cache hits' };

/** Of a plan that reproduces a recorded load: the means of both, and how far the distributions are apart. */
function loadFit({ load_fit: fit = [] }: ResultFile): [name: string, text: string][] {
  return fit.flatMap(({ quantity: name, unit, source, achieved, distance }, i): [string, string][] => {
    if (distance === null) return [];
    const apart = name === 'cached_input_ratio' ? '' : `, distance ${quantity(distance, 'ratio')}`;
    const text = `${FITTED[name]} ${quantity(achieved, unit)}, recorded ${quantity(source, unit)}${apart}`;
    return [[i === 0 ? 'load fit' : '', text]];
  });
}

/** Means per request. */
function imageFacts(measures: readonly MeasureResult[]): [name: string, text: string][] {
  const throughput = scalarOf(measures, 'image_throughput');
  if (throughput?.value == null) return [];
  const means = meansOf(measures, ['image_count', 'image_size', 'image_token_count']);
  return [['images', `${quantity(throughput.value, throughput.unit)} · per request ${means.join(', ')}`]];
}

function audioFacts(measures: readonly MeasureResult[]): [name: string, text: string][] {
  const means = meansOf(measures, ['audio_duration', 'audio_size', 'audio_token_count']);
  return means.length === 0 ? [] : [['audio', `per request ${means.join(', ')}`]];
}

/** Of those that were measured. */
function meansOf(measures: readonly MeasureResult[], names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const found = measures.find(({ measure }) => measure === name);
    return found?.kind === 'distribution' && found.mean !== null ? [quantity(found.mean, found.unit)] : [];
  });
}

function stalls(measures: readonly MeasureResult[]): [name: string, text: string][] {
  const found = scalarOf(measures, 'stall_ratio');
  return found === undefined || scalarOf(measures, 'document_throughput')?.value != null
    ? []
    : [['stalls', `${quantity(found.value, 'ratio')} of the gaps between chunks (over 5 × their median)`]];
}

/** Means of the complete conversations, and of the pauses in all. */
const CONVERSATION_FACTS = [
  ['conversation_duration', 'sent', 'mean duration'],
  ['conversation_serving_time', 'sent', 'served'],
  ['think_time', 'due', 'think time'],
  ['tool_time', 'due', 'tool time'],
] as const;

/** The latencies of the table, and their percentiles. */
const LATENCIES = ['time_to_first_token', 'inter_token_latency'] as const;
const PERCENTILES = ['p50', 'p99'] as const;

const latencyCell =
  (measure: string, name: PercentileName) =>
  ({ measures }: Pick<StageResult, 'measures'>): string =>
    quantity(distributionOf(measures, measure)?.percentiles[name].value, 'seconds');

/** A population of its own within a run: the requests of a stage, or to a model. */
type Part = Pick<StageResult, 'requests' | 'measures' | 'slos'> & { readonly name: string };

/** A table for the stages of the load, and one for each dimension of it; none without them. */
function partTables(
  { stages, breakdown = [] }: ResultFile,
  width?: number,
): readonly { readonly of: string; readonly lines: string[] }[] {
  const ofStages = stages.map((stage) => ({ ...stage, name: `${stage.stage} ${stageText(stage.load)}` }));
  const ofModels = breakdown
    .filter(({ by }) => by === 'model')
    .map((part) => ({ ...part, slos: part.slos ?? [], name: part.value }));
  const tables = [
    { of: 'stages', lines: partTable('stage', ofStages, width) },
    { of: 'models', lines: partTable('model', ofModels, width) },
  ];
  return tables.filter(({ lines }) => lines.length > 0);
}

const PART_NOTES = {
  stage: ['', 'a request belongs to the stage in which it was due'],
  model: [],
} as const;

/** One row per part, as wide as `width`; no line without parts. */
function partTable(kind: keyof typeof PART_NOTES, parts: readonly Part[], width = Infinity): string[] {
  if (parts.length === 0) return [];
  const column = (above: string, below: string, cell: (part: Part) => string): TableColumn => ({
    head: [above, below],
    cells: parts.map(cell),
  });
  const rate = (measure: string) => (part: Part) => {
    const found = scalarOf(part.measures, measure);
    return found === undefined || found.value === null ? ABSENT : significant(found.value);
  };
  const hasSlos = parts.some(({ slos }) => slos.length > 0);
  const columns = [
    column('', kind, ({ name }) => name),
    column('', 'ok', ({ requests }) => counted(requests.ok)),
    column('', 'failed', ({ requests }) => counted(countOf(requests, FAILED_OUTCOMES))),
    column('', 'req/s', rate('request_throughput')),
    column('output', 'tok/s', rate('output_token_throughput')),
    ...LATENCIES.flatMap((measure) =>
      PERCENTILES.map((name) => column(shortTitle(measure), name, latencyCell(measure, name))),
    ),
    ...(hasSlos ? [column('', 'SLO', ({ slos }) => verdictText(worstVerdict(slos)))] : []),
  ];
  return [...columnBlocks(columns, width), ...PART_NOTES[kind]];
}

/** How many conversations there were, and how long the complete ones took. */
function conversationFacts({ conversations, measures }: ResultFile): [name: string, text: string][] {
  if (conversations === undefined) return [];
  const parts = CONVERSATION_FACTS.flatMap(([measure, clock, what]) => {
    const found = distributionOf(measures, measure, 'ok', clock);
    return found?.mean == null || found.mean === 0 ? [] : [`${what} ${quantity(found.mean, found.unit)}`];
  });
  const { complete, incomplete } = conversations;
  return [['turns', [`${complete} conversations complete, ${incomplete} incomplete`, ...parts].join(' · ')]];
}

/** One row per class of turns; no line without conversations. */
function breakdownTable({ breakdown: all = [] }: Pick<ResultFile, 'breakdown'>, width = Infinity): string[] {
  const breakdown = all.filter(({ by }) => by === 'turn');
  if (breakdown.length === 0) return [];
  const column = (above: string, below: string, cell: (each: BreakdownResult) => string): TableColumn => ({
    head: [above, below],
    cells: breakdown.map(cell),
  });
  const columns = [
    column('', breakdown[0]?.by ?? '', ({ value }) => value),
    column('', 'ok', ({ requests }) => counted(requests.ok)),
    column('', 'failed', ({ requests }) => counted(countOf(requests, FAILED_OUTCOMES))),
    column('input', 'tokens', ({ measures }) => significantOr(distributionOf(measures, 'input_sequence_length')?.mean)),
    column('cache', 'hits', ({ measures }) => scalarText(measures, 'cached_input_ratio')),
    ...LATENCIES.flatMap((measure) =>
      PERCENTILES.map((name) => column(shortTitle(measure), name, latencyCell(measure, name))),
    ),
  ];
  return columnBlocks(columns, width);
}

const significantOr = (value: number | null | undefined): string => (value == null ? ABSENT : significant(value));

/** What people look for first: requests, throughput, errors, goodput, objectives, and whether to trust the numbers. */
function headline(result: ResultFile, print: Print): string[] {
  const { requests, cool_down: coolDown, errors, measures, client, slos, servers } = result;
  const { width } = print;
  const failed = Object.entries(errors).map(([reason, n]) => `${reason} ${n}`);
  const reasons = failed.length === 0 ? '' : ` (${failed.join(', ')})`;
  const outcomes = (counts: RequestCounts): string =>
    OUTCOMES.map((outcome) => `${outcome} ${counts[outcome] ?? 'unknown'}`).join(' · ');
  const goodput = scalarOf(measures, 'goodput');
  return [
    ...factLines('requests', outcomes(requests), width),
    ...(coolDown === undefined ? [] : factLines('cool-down', `${outcomes(coolDown)}, not measured`, width)),
    ...factLines('throughput', throughputs(measures), width),
    ...factLines('errors', `${scalarText(measures, 'error_ratio')}${reasons}`, width),
    ...(goodput === undefined ? [] : factLines('goodput', goodputText(goodput, measures), width)),
    ...objectiveLines(slos, print),
    ...verdictLines('client', client.verdict, client.why === null ? '' : `: ${client.why}`, print),
    ...serverVerdict(servers, print),
  ];
}

function throughputs(measures: readonly MeasureResult[]): string {
  const tokens = (measure: string, of: string): string => {
    const value = scalarOf(measures, measure)?.value ?? null;
    return `${value === null ? ABSENT : significant(value)} ${of}tokens/s`;
  };
  const documents = scalarOf(measures, 'document_throughput');
  if (documents?.value != null)
    return [
      quantity(documents.value, documents.unit),
      scalarText(measures, 'request_throughput'),
      tokens('input_token_throughput', 'input '),
    ].join(' · ');
  return [
    `${scalarText(measures, 'request_throughput')}`,
    tokens('output_token_throughput', 'output '),
    `${tokens('total_token_throughput', '')} in total`,
  ].join(' · ');
}

function goodputText({ value, unit }: ScalarResult, measures: readonly MeasureResult[]): string {
  const ratio = scalarOf(measures, 'good_request_ratio');
  return `${quantity(value, unit)}${ratio === undefined ? '' : ` · ${quantity(ratio.value, 'ratio')} of the requests`}`;
}

function scalarText(measures: readonly MeasureResult[], measure: string): string {
  const found = scalarOf(measures, measure);
  return found === undefined ? ABSENT : quantity(found.value, found.unit);
}
