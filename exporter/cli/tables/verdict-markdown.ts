import { capitalized } from '../../../core/measures/names.ts';
import { scenarioText } from '../../judge/compare.ts';
import type { ComparedMeasure, Explanation, VerdictReport } from '../../../core/api/comparison.ts';
import type { VerdictName } from '../../../core/api/verdict.ts';
import { gates } from '../../judge/scenario-state.ts';
import { explanationSummary, signalCells, SIGNAL_HEAD } from './explanation-text.ts';
import { percentText } from '../../../core/text/quantities.ts';
import {
  anchorLines,
  effectLines,
  effectText,
  findingText,
  intervalText,
  isOpenByRate,
  leftOutLines,
  RATE_LEGEND,
  shownMeasures,
  sideText,
  stateLines,
  verdictCell,
} from './verdict-text.ts';

const MARKS: Readonly<Record<VerdictName | 'acknowledged', string>> = {
  acknowledged: '🟡',
  regressed: '🔴',
  suspect: '🟠',
  undecided: '⚪',
  unchanged: '🟢',
  improved: '🔵',
};
const MARKED_OUTCOMES = { failed: '**Blocked:**', unknown: 'Unknown:', accepted: 'Accepted:' };
const FROM_WORST: readonly VerdictName[] = ['regressed', 'suspect', 'undecided', 'unchanged', 'improved'];

/** A comparison as a comment on a pull request: the verdict, the gating measures from the worst, details folded. */
export function verdictMarkdown(report: VerdictReport): string {
  const { verdict, sentence, preflight, runs, explanation, next_command: next, open_regression: open } = report;
  const shown = shownMeasures(report);
  const gating = worstFirst(shown.filter((measure) => measure.gating));
  const others = shown.filter((measure) => !measure.gating);
  const headline = open ? (gates(open) ? 'regressed' : 'acknowledged') : verdict;
  const lines = [
    `### ${MARKS[headline]} llmbench: ${headline} — ${escaped(scenarioText(report))}`,
    '',
    ...stateLines(report).flatMap((line, i) => [i === 0 ? `**${escaped(capitalized(line))}**` : line, '']),
    headline === verdict ? escaped(sentence) : escaped(`This check: ${sentence}`),
    '',
    ...anchorLines(report).flatMap((line) => [`Anchor: ${escaped(line)}`, '']),
    ...table(gating),
    ...(shown.length === 0 ? [] : effectLines(report).flatMap((line) => ['', escaped(line)])),
    ...(preflight.length === 0
      ? []
      : [
          '',
          ...preflight.map(
            (finding) => `- ${MARKED_OUTCOMES[finding.outcome]} ${escaped(findingText(finding, report.design))}`,
          ),
        ]),
    ...(next === null ? [] : ['', 'To decide:', '', '```sh', next, '```']),
    ...(explanation === null ? [] : details('Server signals that moved with it', signalTable(explanation))),
    ...(others.length === 0
      ? []
      : details('Other measures (reported, not gating)', [
          ...table(others),
          ...(others.some(isOpenByRate) ? ['', RATE_LEGEND] : []),
        ])),
    ...details('Runs', [
      `- baseline (A): ${runs.a.map((id) => `\`${id}\``).join(', ') || 'none'}`,
      `- judged (B): ${runs.b.map((id) => `\`${id}\``).join(', ')}`,
      ...leftOutLines(report).map((line) => `- left out: ${escaped(line)}`),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

function worstFirst(measures: readonly ComparedMeasure[]): readonly ComparedMeasure[] {
  return [...measures].sort((x, y) => FROM_WORST.indexOf(x.verdict) - FROM_WORST.indexOf(y.verdict));
}

function table(measures: readonly ComparedMeasure[]): string[] {
  if (measures.length === 0) return [];
  return [
    '| measure | verdict | A | B | effect | interval | margin | runs |',
    '| --- | --- | ---: | ---: | ---: | --- | ---: | ---: |',
    ...measures.map((measure) => `| ${cells(measure).map(escaped).join(' | ')} |`),
  ];
}

function cells(measure: ComparedMeasure): string[] {
  const { verdict, values, unit, margin, runs } = measure;
  return [
    capitalized(measure.title),
    `${MARKS[verdict]} ${verdictCell(measure)}`,
    sideText(values.median_a, values.a, unit),
    sideText(values.median_b, values.b, unit),
    effectText(measure),
    intervalText(measure),
    `±${percentText(margin)}`,
    `${runs.a} + ${runs.b}`,
  ];
}

function signalTable(explanation: Explanation): string[] {
  const lines = explanationSummary(explanation).map(escaped);
  if (explanation.signals.length === 0) return lines;
  return [
    ...[...lines, ''],
    `| ${SIGNAL_HEAD.join(' | ')} | look at |`,
    '| --- | ---: | ---: | ---: | --- | --- |',
    ...explanation.signals.map((signal) => `| ${[...signalCells(signal), signal.look_at].map(escaped).join(' | ')} |`),
  ];
}

function details(title: string, body: readonly string[]): string[] {
  return ['', '<details>', `<summary>${title}</summary>`, '', ...body, '', '</details>'];
}

/** Names of scenarios come from users: they must not end a cell or become markup. */
function escaped(text: string): string {
  return text.replaceAll(/[\\|`*_<>[\]]/g, (character) => `\\${character}`).replaceAll(/\s+/g, ' ');
}
