import { stageText } from '../../../core/run/load.ts';
import { shortTitle } from '../../../core/measures/names.ts';
import { SERVER_MEASURES } from '../../../core/measures/scalar-results.ts';
import { worstVerdict } from '../../../core/run/objectives.ts';
import type { MeasureResult, ResultFile, StageResult, ScalarResult } from '../../../core/run/result.ts';
import { quantity, ABSENT, counted, significant } from '../../../core/text/quantities.ts';
import { costFacts } from './cost-lines.ts';
import { distributionTable } from './distribution-table.ts';
import { factLines, TO_FILE, verdictLines, type Print } from './facts.ts';
import { scalarOf } from './scalar-of.ts';
import { serverFacts, serverVerdict } from './server-lines.ts';
import { countOf, FAILED_OUTCOMES, OUTCOMES, type RequestCounts } from '../../../core/run/record.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';
import { columnBlocks, type TableColumn } from './column-blocks.ts';
import { OBJECTIVE_VERDICTS, objectiveLines } from './objective-lines.ts';

/**
 * The result for a person at a terminal, in the words of the field: what people look for, then the distributions, then
 * what explains them.
 */
export function resultTable(result: ResultFile, print: Print = TO_FILE): string {
  const { width } = print;
  const details: readonly (readonly [name: string, text: string])[] = [
    ['window', `${quantity(result.window.seconds, 'seconds')} from the first request to the end of the last`],
    ...cacheHits(result.measures),
    ...stalls(result.measures),
    ...costFacts(result.measures),
    ...serverFacts(result),
  ];
  const stages = stageTable(result, width);
  const parts = [
    headline(result, print),
    ...(stages.length === 0 ? [] : [stages, ['all stages together:']]),
    distributionTable(result, width),
    details.flatMap(([name, text]) => factLines(name, text, width)),
  ];
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** Servers may count cached tokens without reporting them in `usage`. */
function cacheHits(measures: readonly MeasureResult[]): [name: string, text: string][] {
  const [usage, servers] = ['cached_input_ratio', SERVER_MEASURES.server_cached_input_ratio.measure].map((measure) =>
    scalarOf(measures, measure),
  );
  const parts = [
    ...(usage === undefined ? [] : [`${quantity(usage.value, 'ratio')} of the input tokens by usage`]),
    ...(servers?.value == null ? [] : [`${quantity(servers.value, 'ratio')} by the servers' counters`]),
  ];
  return parts.length === 0 ? [] : [['cache hits', parts.join(' · ')]];
}

function stalls(measures: readonly MeasureResult[]): [name: string, text: string][] {
  const found = scalarOf(measures, 'stall_ratio');
  return found === undefined
    ? []
    : [['stalls', `${quantity(found.value, 'ratio')} of the gaps between chunks (over 5 × their median)`]];
}

/** The latencies of the table, and their percentiles. */
const LATENCIES = ['time_to_first_token', 'inter_token_latency'] as const;
const PERCENTILES = ['p50', 'p99'] as const;

/** One row per stage of a load, as wide as `width`; no line without stages. */
function stageTable({ stages }: Pick<ResultFile, 'stages'>, width = Infinity): string[] {
  if (stages.length === 0) return [];
  const column = (above: string, below: string, cell: (stage: StageResult) => string): TableColumn => ({
    head: [above, below],
    cells: stages.map(cell),
  });
  const percentile = (measure: string, name: PercentileName) => (stage: StageResult) =>
    quantity(percentileOf(stage, measure, name), 'seconds');
  const rate = (measure: string) => (stage: StageResult) => {
    const found = stage.measures.find((each) => each.kind === 'scalar' && each.measure === measure);
    return found?.kind === 'scalar' && found.value !== null ? significant(found.value) : ABSENT;
  };
  const hasSlos = stages.some(({ slos }) => slos.length > 0);
  const columns = [
    column('', 'stage', ({ stage, load }) => `${stage} ${stageText(load)}`),
    column('', 'ok', ({ requests }) => counted(requests.ok)),
    column('', 'failed', ({ requests }) => counted(countOf(requests, FAILED_OUTCOMES))),
    column('', 'req/s', rate('request_throughput')),
    column('output', 'tok/s', rate('output_token_throughput')),
    ...LATENCIES.flatMap((measure) =>
      PERCENTILES.map((name) => column(shortTitle(measure), name, percentile(measure, name))),
    ),
    ...(hasSlos ? [column('', 'SLO', ({ slos }) => OBJECTIVE_VERDICTS[worstVerdict(slos) ?? 'met'])] : []),
  ];
  return [...columnBlocks(columns, width), '', 'a request belongs to the stage in which it was due'];
}

function percentileOf({ measures }: StageResult, measure: string, name: PercentileName): number | null {
  const found = measures.find(
    (each) =>
      each.kind === 'distribution' && each.measure === measure && each.population === 'ok' && each.clock === 'sent',
  );
  return found?.kind === 'distribution' ? found.percentiles[name].value : null;
}

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
