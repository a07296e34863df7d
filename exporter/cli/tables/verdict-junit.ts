import type { VerdictReport } from '../../../core/api/comparison.ts';
import { gates } from '../../judge/scenario-state.ts';
import type { VerdictName } from '../../../core/api/verdict.ts';
import { explanationText } from './explanation-text.ts';
import { anchorLines, stateLines } from './verdict-text.ts';

/**
 * A comparison as JUnit XML for GitLab and Jenkins: one test case per gating measure. Regressed is a failure, or skipped
 * while the regression is acknowledged; suspect and undecided are skipped, or failures with `failUndecided`. The case
 * `overall` fails while a regression is open, and has the server signals that moved with it and the command that would decide.
 */
export function verdictJunit(report: VerdictReport, failUndecided: boolean): string {
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
