import type {
  Explanation,
  MovedSignal,
  ComparedMeasure,
  Comparison,
  VerdictReport,
} from '../../../core/api/comparison.ts';
import type { OpenRegression } from '../../../core/api/scenarios.ts';
import type { Design, PreflightFinding } from '../../../core/api/verdict.ts';
import type { Unit } from '../../../core/run/statistic.ts';
import {
  ABSENT,
  quantity,
  significant,
  things,
  changeText,
  quantityRange,
  percentText,
} from '../../../core/text/quantities.ts';
import { wrapped } from '../../../core/text/words.ts';
import { scenarioText } from '../../judge/compare.ts';
import { aligned, columnBlocks, factLines, TO_FILE, verdictLines, type Print } from './layout.ts';

export const SIGNAL_HEAD = ['signal', 'A', 'B', 'change', 'q'];

/** The server signals that moved with the measures, for a terminal; empty without an explanation. */
export function explanationText(explanation: Explanation | null): readonly string[] {
  if (explanation === null) return [];
  const { signals } = explanation;
  const rows = aligned([SIGNAL_HEAD, ...signals.map(signalCells)]).map((line) => `  ${line}`);
  const looks = signals.map(({ title, family_b, look_at }) => `  ${title} (${family_b}): look at ${look_at}`);
  return [...explanationSummary(explanation), ...(signals.length === 0 ? [] : [...rows, ...looks])];
}

/** What moved with what, of how many runs, and what it does not say. */
export function explanationSummary({ signals, compared, runs, not_used }: Explanation): readonly string[] {
  const total = runs.a + runs.b;
  const without =
    not_used.length === 0 ? '' : `; ${things(not_used.length, 'runs')} without exact server metrics not used`;
  if (runs.a === 0 || runs.b === 0) {
    return [
      `server signals: not available, because no run of ${runs.a === 0 ? 'A' : 'B'} has exact server metrics${without}`,
    ];
  }
  const of = `${things(compared, 'signals')} compared in ${things(total, 'runs')}${without}`;
  if (signals.length === 0) return [`server signals: none moved clearly (${of})`];
  const measures = [...new Set(signals.flatMap(({ moved_with_titles: titles }) => titles))].join(', ');
  return [`server signals that moved with ${measures} (${of}); this does not show the cause:`];
}

export function signalCells({ title, unit, median_a, median_b, ratio, q }: MovedSignal): string[] {
  return [
    title,
    valueText(median_a, unit),
    valueText(median_b, unit),
    ratio === null ? ABSENT : changeText(ratio),
    q < 0.001 ? '< 0.001' : q.toPrecision(2),
  ];
}

function valueText(value: number, unit: string): string {
  switch (unit) {
    case 'hertz':
      return `${significant(value / 1e6)} MHz`;
    case 'watts':
      return `${significant(value)} W`;
    default:
      return quantity(value, unit as Unit);
  }
}

/** Measures beyond the gating ones that a table shows, those with the smallest p first. */
const MAX_OTHERS = 8;

/**
 * A comparison for a terminal: the verdict, the table of measures, what is in the way, and what to do next. A table that is
 * wider than the terminal continues below itself.
 */
export function verdictText(report: VerdictReport, { width, paint }: Print = TO_FILE): string {
  const { verdict, sentence, runs, preflight, explanation, next_command: next } = report;
  const [a, b] = report.design === 'history' ? ['A (baseline)', 'B (judged)'] : ['A', 'B'];
  const others = [
    ['scenario', scenarioText(report)],
    ...stateLines(report).map((line, i) => [i === 0 ? 'state' : '', line]),
    ['reason', sentence],
    ['runs', `${a} ${things(runs.a.length, 'runs')}, ${b} ${things(runs.b.length, 'runs')}`],
    ...leftOutLines(report).map((line) => ['left out', line]),
    ...anchorLines(report).map((line) => ['anchor', line]),
    ...partLines(report).map((line, i) => [i === 0 ? 'by model' : '', line]),
    ...preflight.map((finding) => [OUTCOMES[finding.outcome], findingText(finding, report.design)]),
  ].flatMap(([name = '', text = '']) => factLines(name, text, width));
  const facts = [...verdictLines('verdict', verdict, '', { width, paint }), ...others];
  const rows = shownMeasures(report).map(row);
  const columns = HEAD.map((head, i) => ({ head: [head], cells: rows.map((cells) => cells[i] ?? '') }));
  const table = rows.length === 0 ? [] : columnBlocks(columns, width, paint);
  const legend = [
    ...(report.measures.some(({ gating }) => gating) ? ['* decides the verdict'] : []),
    ...(rows.length === 0 ? [] : effectLines(report).flatMap((line) => wrapped(line, width))),
    ...(shownMeasures(report).some(isOpenByRate) ? wrapped(RATE_LEGEND, width) : []),
  ];
  const parts = [facts, table, legend, explanationText(explanation), next === null ? [] : ['to decide:', `  ${next}`]];
  return `${parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')}\n`;
}

const MAX_PART_LINES = 4;

/** What regressed for the requests to one model, which does not decide the verdict. */
export function partLines({ measures }: Comparison): readonly string[] {
  const regressed = measures.filter(
    ({ gating, breakdown = '', verdict }) => !gating && breakdown.startsWith('model=') && verdict === 'regressed',
  );
  const lines = regressed.slice(0, MAX_PART_LINES).map(({ sentence }) => sentence);
  const more = regressed.length - lines.length;
  return more === 0 ? lines : [...lines, `${more} more`];
}

/** How a finding of the preflight is called. */
export const OUTCOMES: Readonly<Record<PreflightFinding['outcome'], string>> = {
  failed: 'blocked by',
  unknown: 'unknown',
  accepted: 'accepted',
};

/** What was found, and the option that accepts it where one does. */
export function findingText({ check, outcome, sentence }: PreflightFinding, design: Design): string {
  const hint = check === 'scenario' && outcome === 'failed' && design !== 'history';
  return hint ? `${sentence} To compare them on purpose: --across-scenarios.` : sentence;
}

/** The run that was selected and is not among those compared, with the reason. */
export function leftOutLines({ left_out: leftOut }: Comparison): readonly string[] {
  return leftOut === null ? [] : [`${leftOut}: it raised the suspicion, so it cannot confirm it`];
}

/** What the effects are. */
export function effectLines({ effect_meaning: meaning }: Comparison): readonly string[] {
  return meaning === null ? [] : [`effect: ${meaning}`];
}

const HEAD = ['measure', 'verdict', 'A', 'B', 'effect', 'interval', 'margin', 'detectable', 'runs'];

/** The gating measures, and of the others those that are over successful requests, the most notable first. */
export function shownMeasures({ measures }: Comparison): readonly ComparedMeasure[] {
  const others = measures.filter(({ gating, population, effect }) => !gating && population === 'ok' && effect !== null);
  const notable = [...others].sort((x, y) => (x.p?.adjusted ?? 1) - (y.p?.adjusted ?? 1)).slice(0, MAX_OTHERS);
  return [...measures.filter(({ gating }) => gating), ...notable];
}

/** Where a judged scenario stands, if there is more to say than the verdict: the open regression, and what ends it. */
export function stateLines({ state, open_regression: open }: VerdictReport): readonly string[] {
  if (!open) return state === 'recovered' ? ['recovered: the regression is over'] : [];
  const { needs_to_recover: further, acknowledged } = open;
  const ends = `ends when ${further ? `about ${things(further, 'further runs')}` : 'further runs'} ${further === 1 ? 'looks' : 'look'} like the baseline, or with \`llmbench baseline accept\``;
  const passes = '; `llmbench regression acknowledge` lets checks pass until then';
  return [`${open.sentence}${acknowledgedText(open)}`, `${ends}${acknowledged === null ? passes : ''}`];
}

/** Who acknowledged an open regression; empty without one. */
export function acknowledgedText({ acknowledged }: OpenRegression): string {
  if (acknowledged === null) return '';
  const { at, author, reason } = acknowledged;
  return `; acknowledged on ${at.slice(0, 10)}${author === null ? '' : ` by ${author}`}${reason === null ? '' : `: ${reason}`}`;
}

/** What the judge says against the pinned runs, in one line; none when no runs are pinned. */
export function anchorLines({ anchor }: VerdictReport): readonly string[] {
  if (!anchor) return [];
  return [`${anchor.verdict} against ${things(anchor.runs.a.length, 'pinned runs')}: ${anchor.sentence}`];
}

/** The verdict; with the false discovery rate where that alone left it open. */
export function verdictCell(measure: ComparedMeasure): string {
  return isOpenByRate(measure)
    ? `${measure.verdict} (q ${(measure.p?.adjusted ?? 1).toPrecision(2)})`
    : measure.verdict;
}

/** Not gating, and undecided only because many measures are judged: its interval, of it alone, may exclude no change. */
export function isOpenByRate({ gating, reason }: ComparedMeasure): boolean {
  return !gating && reason === 'multiple_measures';
}

export const RATE_LEGEND =
  'q: false discovery rate over all measures that do not gate (Benjamini-Hochberg); above 0.05 a measure is undecided, ' +
  'also where its own interval excludes 0 %';

function row(measure: ComparedMeasure): string[] {
  return [
    `${measure.title}${measure.gating ? ' *' : ''}`,
    verdictCell(measure),
    ...figureCells(measure),
    measure.detectable === null ? ABSENT : `+${percentText(measure.detectable)}`,
    runsCell(measure),
  ];
}

/** A, B, the effect, its interval and the margin, as every table of measures has them. */
export function figureCells(
  measure: ComparedMeasure,
): readonly [a: string, b: string, effect: string, interval: string, margin: string] {
  const { values, unit, margin } = measure;
  return [
    sideText(values.median_a, values.a, unit),
    sideText(values.median_b, values.b, unit),
    effectText(measure),
    intervalText(measure),
    `±${percentText(margin)}`,
  ];
}

export const runsCell = ({ runs }: ComparedMeasure): string => `${runs.a} + ${runs.b}`;

/** The median of a side; if its values are intervals, the span of all of them. */
function sideText(median: number | null, values: ComparedMeasure['values']['a'], unit: Unit): string {
  if (median !== null) return quantity(median, unit);
  const intervals = values.filter((value) => value !== null && typeof value === 'object');
  if (intervals.length === 0) return ABSENT;
  const low = Math.min(...intervals.map(([from]) => from));
  const high = Math.max(...intervals.map(([, to]) => to));
  if (high === Infinity) return `≥ ${quantity(low, unit)}`;
  return low === high ? quantity(low, unit) : quantityRange([low, high], unit);
}

/** The estimated change of B against A, e.g. `+12.3 %`. */
function effectText({ effect }: ComparedMeasure): string {
  return effect === null ? ABSENT : changeText(effect.estimate);
}

/** The interval of the change, e.g. `+8.1 % to +16.0 %`; absent when the runs leave everything open. */
export function intervalText({ effect }: Pick<ComparedMeasure, 'effect'>): string {
  if (effect === null || (effect.low === 0 && effect.high === Infinity)) return ABSENT;
  return `${changeText(effect.low)} to ${changeText(effect.high)}`;
}
