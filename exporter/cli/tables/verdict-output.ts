import type { VerdictReport, ComparedMeasure, Explanation } from '../../../core/api/comparison.ts';
import type { VerdictName } from '../../../core/api/verdict.ts';
import { capitalized } from '../../../core/measures/names.ts';
import { scenarioText } from '../../judge/compare.ts';
import { gates } from '../../judge/scenario-state.ts';
import { ExitCode } from '../failure.ts';
import type { VERDICT_OPTIONS } from '../options/judge-options.ts';
import type { OptionValues } from '../options/options.ts';
import { printing } from '../terminal-text.ts';
import { TO_FILE, type Print } from './layout.ts';
import { verdictHtml } from './verdict-html.ts';
import {
  explanationText,
  anchorLines,
  stateLines,
  explanationSummary,
  signalCells,
  SIGNAL_HEAD,
  effectLines,
  figureCells,
  findingText,
  isOpenByRate,
  leftOutLines,
  RATE_LEGEND,
  runsCell,
  shownMeasures,
  verdictCell,
  verdictText,
  acknowledgedText,
} from './verdict-text.ts';

/**
 * A comparison as JUnit XML for GitLab and Jenkins: one test case per gating measure. Regressed is a failure, or skipped
 * while the regression is acknowledged; suspect and undecided are skipped, or failures with `failUndecided`. The case
 * `overall` fails while a regression is open, and has the server signals that moved with it and the command that would decide.
 */
function verdictJunit(report: VerdictReport, failUndecided: boolean): string {
  const { scenario, verdict, sentence, measures, explanation, next_command: next, open_regression: open } = report;
  const fails = open ? gates(open) : false;
  const anchor = anchorLines(report).map((line) => `anchor: ${line}`);
  const [headline = sentence, ...state] = stateLines(report);
  const body = [
    ...(headline === sentence ? [] : [...state, `this check: ${sentence}`]),
    ...anchor,
    ...explanationText(explanation),
    ...(next === null ? [] : [`to decide: ${next}`]),
  ].join('\n');
  const gating = measures.filter((measure) => measure.gating);
  const cases = [
    ...gating.map((measure) => ({ name: measure.title, verdict: measure.verdict, text: measure.sentence, body: '' })),
    // Without it a comparison that preflight blocked would be a suite without a case.
    { name: 'overall', verdict: fails ? ('regressed' as const) : verdict, text: headline, body },
  ];
  const outcomes = cases.map((each) => ({
    ...each,
    outcome:
      open && !fails && each.verdict === 'regressed' ? ('skipped' as const) : outcomeOf(each.verdict, failUndecided),
  }));
  const count = (wanted: CaseOutcome): number => outcomes.filter(({ outcome }) => outcome === wanted).length;
  const suite = `tests="${cases.length}" failures="${count('failure')}" skipped="${count('skipped')}" errors="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${suite}>`,
    `  <testsuite name="${xml(`llmbench ${scenario}`)}" ${suite}>`,
    ...outcomes.map((each) => testCase(scenario, each)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

type CaseOutcome = 'passed' | 'skipped' | 'failure';

function outcomeOf(verdict: VerdictName, failUndecided: boolean): CaseOutcome {
  if (verdict === 'regressed') return 'failure';
  if (verdict === 'suspect' || verdict === 'undecided') return failUndecided ? 'failure' : 'skipped';
  return 'passed';
}

interface TestCase {
  readonly name: string;
  readonly outcome: CaseOutcome;
  readonly text: string;
  /** Further text. */
  readonly body: string;
}

function testCase(scenario: string, { name, outcome, text, body }: TestCase): string {
  const head = `    <testcase classname="${xml(`llmbench.${scenario}`)}" name="${xml(name)}"`;
  if (outcome === 'passed') {
    return `${head}><system-out>${xml([text, body].filter(Boolean).join('\n'))}</system-out></testcase>`;
  }
  return `${head}><${outcome} message="${xml(text)}"${body === '' ? '/>' : `>${xml(body)}</${outcome}>`}</testcase>`;
}

/** Escapes markup, and drops the control characters that XML 1.0 does not allow. */
function xml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

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
function verdictMarkdown(report: VerdictReport): string {
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
  const verdict = `${MARKS[measure.verdict]} ${verdictCell(measure)}`;
  return [capitalized(measure.title), verdict, ...figureCells(measure), runsCell(measure)];
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

export type VerdictFormat = 'text' | 'markdown' | 'html' | 'junit' | 'json';

/** A verdict in the requested format. */
export function verdictOutput(
  format: VerdictFormat,
  report: VerdictReport,
  failUndecided: boolean,
  print: Print = TO_FILE,
): string {
  switch (format) {
    case 'text':
      return verdictText(report, print);
    case 'markdown':
      return verdictMarkdown(report);
    case 'html':
      return verdictHtml(report);
    case 'junit':
      return verdictJunit(report, failUndecided);
    case 'json':
      return `${JSON.stringify(report, null, 2)}\n`;
  }
}

export type VerdictValues = OptionValues<typeof VERDICT_OPTIONS> & { readonly json: boolean };

/** Prints a verdict as requested, warns when it passes without a decision, and returns the exit code. */
export function printVerdict(report: VerdictReport, { json, format, undecided }: VerdictValues): number {
  const failUndecided = undecided === 'fail';
  process.stdout.write(verdictOutput(json ? 'json' : format, report, failUndecided, printing()));
  const { verdict, scenario, open_regression: open } = report;
  // Also where the verdict itself goes to a file: the log of a job has to say why it failed.
  if (open) process.stderr.write(`${scenario}: ${open.sentence}${acknowledgedText(open)}\n`);
  const regressed = open ? gates(open) : verdict === 'regressed';
  if (regressed || (failUndecided && isUndecided(verdict))) return ExitCode.gate;
  if (isUndecided(verdict)) {
    process.stderr.write(`warning: the verdict is ${verdict}, which passes; use --undecided fail to fail on it\n`);
  }
  return ExitCode.done;
}

const isUndecided = (verdict: VerdictName): boolean => verdict === 'undecided' || verdict === 'suspect';
