import type { Comparison } from '../../judge/comparison.ts';
import { named } from '../../judge/sentences.ts';
import type { VerdictName } from '../../judge/verdict.ts';

/**
 * A comparison as JUnit XML for GitLab and Jenkins: one test case per gating measure. Regressed is a failure; suspect and
 * undecided are skipped, or failures with `failUndecided`.
 */
export function verdictJunit(comparison: Comparison, failUndecided: boolean): string {
  const { scenario, verdict, sentence, measures } = comparison;
  const gating = measures.filter((measure) => measure.gating);
  const cases = [
    ...gating.map((measure) => ({ name: named(measure), verdict: measure.verdict, text: measure.sentence })),
    // Without it a comparison that preflight blocked would be a suite without a case.
    { name: 'overall', verdict, text: sentence },
  ];
  const outcomes = cases.map((each) => ({ ...each, outcome: outcomeOf(each.verdict, failUndecided) }));
  const count = (wanted: CaseOutcome): number => outcomes.filter(({ outcome }) => outcome === wanted).length;
  const suite = `tests="${cases.length}" failures="${count('failure')}" skipped="${count('skipped')}" errors="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${suite}>`,
    `  <testsuite name="${xml(`llmbench ${scenario}`)}" ${suite}>`,
    ...outcomes.map(({ name, text, outcome }) => testCase(scenario, name, text, outcome)),
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

function testCase(scenario: string, name: string, text: string, outcome: CaseOutcome): string {
  const head = `    <testcase classname="${xml(`llmbench.${scenario}`)}" name="${xml(name)}"`;
  if (outcome === 'passed') return `${head}><system-out>${xml(text)}</system-out></testcase>`;
  return `${head}><${outcome} message="${xml(text)}"/></testcase>`;
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
