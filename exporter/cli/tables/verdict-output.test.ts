import { describe, expect, test } from '@jest/globals';
import type { ComparedMeasure, Comparison, VerdictReport, Explanation } from '../../../core/api/comparison.ts';
import type { OpenRegression } from '../../../core/api/scenarios.ts';
import { nextCommand, type NextContext } from '../../judge/verdict-report.ts';
import { verdictOutput, type VerdictFormat } from './verdict-output.ts';

const MEASURE: ComparedMeasure = {
  title: 'time to first token p50',
  ...{ measure: 'time_to_first_token', stat: 'p50', unit: 'seconds', definition: 'd', origin: 'client' },
  ...{ population: 'ok', clock: 'sent', direction: 'lower', gating: true, verdict: 'regressed', reason: 'decided' },
  sentence: 'Time to first token p50 is regressed.',
  effect: { low: 1.08, estimate: 1.123, high: 1.16 },
  ...{ confidence: 0.95, method: 'rank_sum_exact', runs: { a: 6, b: 6 }, margin: 0.05, detectable: 0.07 },
  ...{ p: { raw: 0.002, adjusted: 0.01, adjustment: 'holm' }, needs: null },
  values: { a: [0.1], b: [0.1123], median_a: 0.1, median_b: 0.1123 },
};

const COMPARISON: Comparison = {
  design: 'sets',
  scenario: 'chat <main> | "x"',
  scenarios: { a: ['chat <main> | "x"'], b: ['chat <main> | "x"'] },
  effect_meaning: 'the median of the ratios',
  verdict: 'regressed',
  reason: 'decided',
  sentence: 'Regressed: time to first token p50 is worse by at least the margin.',
  runs: { a: ['a1', 'a2'], b: ['b1'] },
  left_out: 'b0',
  preflight: [{ check: 'client', outcome: 'unknown', run_ids: ['a1'], sentence: 'Unknown in 1 run.' }],
  measures: [
    { ...MEASURE, measure: 'error_ratio', title: 'error ratio', stat: 'value', unit: 'ratio', verdict: 'undecided' },
    MEASURE,
    { ...MEASURE, measure: 'request_latency', title: 'request latency p50', gating: false, verdict: 'improved' },
  ],
  needs: null,
};

const print = (format: 'markdown' | 'junit' | 'json', failUndecided = false): string =>
  verdictOutput(format, { ...COMPARISON, explanation: null, next_command: 'llmbench run x' }, failUndecided);

test('text for a terminal of 80 columns: nothing is lost, the table continues below itself, verdicts are painted', () => {
  const report = { ...COMPARISON, sentence: `${'word '.repeat(30)}end`, explanation: null, next_command: null };
  const paint = (text: string): string => (text === 'regressed' ? '<R>egressed' : text);
  expect(verdictOutput('text', report, false, { width: 80, paint })).toBe(`verdict     <R>egressed
scenario    chat <main> | "x"
reason      ${'word '.repeat(13).trimEnd()}
            ${'word '.repeat(13).trimEnd()}
            word word word word end
runs        A 2 runs, B 1 run
left out    b0: it raised the suspicion, so it cannot confirm it
unknown     Unknown in 1 run.

measure                      verdict       A       B   effect       interval
error ratio *              undecided    10 %  11.2 %  +12.3 %  +8 % to +16 %
time to first token p50 *  <R>egressed  100 ms  112 ms  +12.3 %  +8 % to +16 %
request latency p50         improved  100 ms  112 ms  +12.3 %  +8 % to +16 %

measure                    margin  detectable   runs
error ratio *                ±5 %        +7 %  6 + 6
time to first token p50 *    ±5 %        +7 %  6 + 6
request latency p50          ±5 %        +7 %  6 + 6

* decides the verdict
effect: the median of the ratios
`);
});

test('markdown for a pull request: worst first, other measures and runs folded, names cannot become markup', () => {
  expect(print('markdown')).toBe(`### 🔴 llmbench: regressed — chat \\<main\\> \\| "x"

Regressed: time to first token p50 is worse by at least the margin.

| measure | verdict | A | B | effect | interval | margin | runs |
| --- | --- | ---: | ---: | ---: | --- | ---: | ---: |
| Time to first token p50 | 🔴 regressed | 100 ms | 112 ms | +12.3 % | +8 % to +16 % | ±5 % | 6 + 6 |
| Error ratio | ⚪ undecided | 10 % | 11.2 % | +12.3 % | +8 % to +16 % | ±5 % | 6 + 6 |

effect: the median of the ratios

- Unknown: Unknown in 1 run.

To decide:

\`\`\`sh
llmbench run x
\`\`\`

<details>
<summary>Other measures (reported, not gating)</summary>

| measure | verdict | A | B | effect | interval | margin | runs |
| --- | --- | ---: | ---: | ---: | --- | ---: | ---: |
| Request latency p50 | 🔵 improved | 100 ms | 112 ms | +12.3 % | +8 % to +16 % | ±5 % | 6 + 6 |

</details>

<details>
<summary>Runs</summary>

- baseline (A): \`a1\`, \`a2\`
- judged (B): \`b1\`
- left out: b0: it raised the suspicion, so it cannot confirm it

</details>
`);
});

test('scenarios that differ on purpose are both named, and what was accepted', () => {
  const two = {
    ...{ ...COMPARISON, explanation: null, next_command: null },
    scenarios: { a: ['chat-vllm'], b: ['chat-sglang'] },
    preflight: [
      { check: 'scenario', outcome: 'accepted', run_ids: [], sentence: 'The runs are of 2 scenarios.' },
    ] as const,
  };
  const text = verdictOutput('text', two, false);
  expect(text).toContain('\nscenario    chat-vllm (A), chat-sglang (B)\n');
  expect(text).toContain('\naccepted    The runs are of 2 scenarios.\n');
  expect(verdictOutput('markdown', two, false)).toContain('\n- Accepted: The runs are of 2 scenarios.\n');
});

test('HTML for a colleague: one page without scripts or other files, names cannot become markup', () => {
  const page = verdictOutput('html', { ...COMPARISON, explanation: null, next_command: 'llmbench run <x>' }, false);
  expect(page).toMatch(/^<!doctype html>/);
  expect(page).not.toMatch(/<script|<link|src=|href=|url\(/);
  expect(page).toContain('chat &lt;main&gt; | &quot;x&quot;<span class="status bad">regressed</span>');
  expect(page).toContain('<code>llmbench run &lt;x&gt;</code>');
  expect(page.replaceAll(/\s+/g, ' ')).toMatch(
    /Time to first token p50<small>decides the verdict<\/small><\/th> <td class="bad">regressed<\/td> <td>100 ms<\/td> <td>112 ms<\/td> <td>\+12\.3 %<\/td> <td>\+8 % to \+16 %<\/td>/,
  );
  expect(page).toContain('effect: the median of the ratios');
  expect(page).toContain('b0: it raised the suspicion');
});

test('JUnit: regressed fails, undecided is skipped or fails, text is escaped', () => {
  expect(print('junit')).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="2" skipped="1" errors="0">
  <testsuite name="llmbench chat &lt;main&gt; | &quot;x&quot;" tests="3" failures="2" skipped="1" errors="0">
    <testcase classname="llmbench.chat &lt;main&gt; | &quot;x&quot;" name="error ratio"><skipped message="Time to first token p50 is regressed."/></testcase>
    <testcase classname="llmbench.chat &lt;main&gt; | &quot;x&quot;" name="time to first token p50"><failure message="Time to first token p50 is regressed."/></testcase>
    <testcase classname="llmbench.chat &lt;main&gt; | &quot;x&quot;" name="overall"><failure message="Regressed: time to first token p50 is worse by at least the margin.">to decide: llmbench run x</failure></testcase>
  </testsuite>
</testsuites>
`);
  expect(print('junit', true)).toContain('failures="3" skipped="0"');
});

test('the pinned runs are named in one line, whatever they decide', () => {
  const anchor = { ...COMPARISON, measures: [], verdict: 'unchanged', sentence: 'Unchanged: all.' } as const;
  const printed = (format: 'text' | 'markdown' | 'junit', given: typeof anchor | null) =>
    verdictOutput(format, { ...COMPARISON, explanation: null, next_command: null, anchor: given }, false);
  expect(printed('text', anchor)).toContain('\nanchor      unchanged against 2 pinned runs: Unchanged: all.\n');
  expect(printed('markdown', anchor)).toContain('\nAnchor: unchanged against 2 pinned runs: Unchanged: all.\n');
  expect(printed('junit', anchor)).toContain('>anchor: unchanged against 2 pinned runs: Unchanged: all.</failure>');
  expect(printed('text', null)).not.toContain('anchor');
});

describe('a scenario with an open regression, after a check that could not decide', () => {
  const OPEN: OpenRegression = {
    ...{ since_run_id: 'b1', since: '2026-11-23T02:00:00.000Z', found_at: '2026-11-24T02:05:00.000Z' },
    ...{ run_ids: ['b1', 'b2', 'b3', 'b4'], baseline_run_ids: ['a1', 'a2'], largest: null, needs_to_recover: 3 },
    ...{ acknowledged: null, sentence: 'regressed since b1 (3 runs ago), time to first token p50 +31 %' },
  };
  const known = { at: '2026-11-25T09:00:00.000Z', author: 'ana', reason: 'INFRA-812' };
  const UNDECIDED: VerdictReport = {
    ...{ ...COMPARISON, scenario: 'nightly', verdict: 'undecided', sentence: 'Undecided: why.', preflight: [] },
    ...{ measures: [MEASURE], left_out: null, explanation: null, next_command: null },
    ...{ state: 'regressed', open_regression: OPEN },
  };
  const printed = (format: VerdictFormat, change: Partial<VerdictReport> = {}): string =>
    verdictOutput(format, { ...UNDECIDED, ...change }, false);
  const acknowledged = { open_regression: { ...OPEN, acknowledged: known } };

  test('text says since when, how large, and what ends it', () => {
    expect(printed('text')).toContain(`verdict     undecided
scenario    nightly
state       regressed since b1 (3 runs ago), time to first token p50 +31 %
            ends when about 3 further runs look like the baseline, or with \`llmbench baseline accept\`; \`llmbench regression acknowledge\` lets checks pass until then
reason      Undecided: why.
`);
    expect(printed('text', acknowledged)).toContain(
      'time to first token p50 +31 %; acknowledged on 2026-11-25 by ana: INFRA-812\n',
    );
    expect(printed('text', { state: 'recovered', open_regression: null })).toContain(
      '\nstate       recovered: the regression is over\n',
    );
    expect(printed('text', { state: 'ok', open_regression: null })).not.toContain('state  ');
  });

  test('markdown has it as its headline; an acknowledged one is no red one', () => {
    expect(printed('markdown')).toMatch(
      /^### 🔴 llmbench: regressed — nightly\n\n\*\*Regressed since b1 \(3 runs ago\), time to first token p50 \+31 %\*\*\n\nends when .*\n\nThis check: Undecided: why\.\n/,
    );
    expect(printed('markdown', acknowledged)).toMatch(
      /^### 🟡 llmbench: acknowledged — nightly\n\n\*\*Regressed since b1 .* acknowledged on 2026-11-25 by ana: INFRA-812\*\*/,
    );
  });

  test('JUnit fails by the case overall, and by none while it is acknowledged', () => {
    const unchanged = { ...UNDECIDED, measures: [{ ...MEASURE, verdict: 'unchanged' as const }] };
    expect(verdictOutput('junit', unchanged, false)).toContain('tests="2" failures="1" skipped="0"');
    expect(printed('junit')).toContain(
      'name="overall"><failure message="regressed since b1 (3 runs ago), time to first token p50 +31 %">ends when ',
    );
    expect(printed('junit')).toContain('\nthis check: Undecided: why.</failure>');
    expect(printed('junit', acknowledged)).toContain('tests="2" failures="0" skipped="2"');
  });

  test('HTML has it above the sentence', () => {
    expect(printed('html')).toContain(
      '<p class="alert">Regressed since b1 (3 runs ago), time to first token p50 +31 %</p>',
    );
  });

  test('JSON has all of it', () => {
    expect(JSON.parse(printed('json'))).toMatchObject({
      verdict: 'undecided',
      state: 'regressed',
      open_regression: OPEN,
    });
  });
});

test('where the false discovery rate alone leaves a measure open, the table shows q', () => {
  const open = { ...MEASURE, gating: false, verdict: 'undecided', reason: 'multiple_measures' } as const;
  const p = { raw: 0.02, adjusted: 0.081, adjustment: 'benjamini_hochberg' } as const;
  const printed = verdictOutput(
    'text',
    { ...COMPARISON, measures: [{ ...open, p }], explanation: null, next_command: null },
    false,
  );
  expect(printed).toMatch(/time to first token p50 +undecided \(q 0\.081\) /);
  expect(printed).toContain('\nq: false discovery rate over all measures that do not gate (Benjamini-Hochberg); above');
});

test('JSON has everything and the next command', () => {
  expect(JSON.parse(print('json'))).toEqual({ ...COMPARISON, explanation: null, next_command: 'llmbench run x' });
});

describe('server signals that moved with it', () => {
  const EXPLANATION: Explanation = {
    signals: [
      {
        ...{ signal: 'gpu_clock', title: 'GPU clock (SM)', unit: 'hertz', moved_with: ['time_to_first_token p50'] },
        moved_with_titles: ['time to first token p50'],
        ...{ family_a: 'DCGM_FI_DEV_SM_CLOCK', family_b: 'DCGM_FI_DEV_SM_CLOCK', look_at: 'throttling' },
        ...{ median_a: 1.98e9, median_b: 1.485e9, ratio: 0.75, p: 0.001, q: 0.012 },
      },
    ],
    compared: 5,
    runs: { a: 2, b: 1 },
    not_used: [{ run_id: 'b9', problem: 'not_exact' }],
  };
  const printed = (format: 'text' | 'markdown' | 'junit' | 'json', explanation: Explanation): string =>
    verdictOutput(format, { ...COMPARISON, explanation, next_command: null }, false);

  test('as text, with what to look at', () => {
    expect(printed('text', EXPLANATION)).toContain(`
server signals that moved with time to first token p50 (5 signals compared in 3 runs; 1 run without exact server metrics not used); this does not show the cause:
  signal                  A          B  change      q
  GPU clock (SM)  1,980 MHz  1,485 MHz   −25 %  0.012
  GPU clock (SM) (DCGM_FI_DEV_SM_CLOCK): look at throttling
`);
  });

  test('as a folded table in markdown', () => {
    expect(printed('markdown', EXPLANATION)).toContain(`<summary>Server signals that moved with it</summary>

server signals that moved with time to first token p50 (5 signals compared in 3 runs; 1 run without exact server metrics not used); this does not show the cause:

| signal | A | B | change | q | look at |
| --- | ---: | ---: | ---: | --- | --- |
| GPU clock (SM) | 1,980 MHz | 1,485 MHz | −25 % | 0.012 | throttling |

</details>`);
  });

  test('in the failure of the overall case in JUnit', () => {
    expect(printed('junit', EXPLANATION))
      .toContain(`is worse by at least the margin.">server signals that moved with time to first token p50 (5 signals compared in 3 runs; 1 run without exact server metrics not used); this does not show the cause:
  signal                  A          B  change      q
  GPU clock (SM)  1,980 MHz  1,485 MHz   −25 %  0.012
  GPU clock (SM) (DCGM_FI_DEV_SM_CLOCK): look at throttling</failure></testcase>`);
  });

  test('in full as JSON', () => {
    expect(JSON.parse(printed('json', EXPLANATION))).toMatchObject({ explanation: EXPLANATION });
  });

  test('says when nothing moved, and when nothing is known', () => {
    expect(printed('text', { ...EXPLANATION, signals: [] })).toContain(
      '\nserver signals: none moved clearly (5 signals',
    );
    expect(printed('text', { ...EXPLANATION, signals: [], runs: { a: 0, b: 1 } })).toContain(
      '\nserver signals: not available, because no run of A has exact server metrics',
    );
  });
});

const NEXT: NextContext = {
  ...{ scenario: 'my chat', verdict: 'undecided', judged: 2, acceptable: 0, tool: 'llmbench' },
  ...{ urls: { a: 'http://a', b: 'http://b?x' }, runsDirectory: 'runs', commandLine: null, continued: null },
};

test.each([
  [
    { design: 'pairs', pairs: 8, further: 8 },
    /^llmbench ab --a http:\/\/a --b 'http:\/\/b\?x' --pairs 8 --scenario 'my chat' /,
  ],
  [{ design: 'confirm', further: 3 }, /# 3 runs, then: llmbench check --scenario 'my chat'$/],
  [{ design: 'sets', furtherA: 0, furtherB: 1 }, /# 1 run of B$/],
  [{ design: 'baseline', further: 5 }, /# 5 runs, then: llmbench baseline accept 'scenario:my chat\+last:5'$/],
  [{ design: 'requests', times: 2.5 }, /# with 2\.5 times the requests$/],
] as const)('the command for %j', (needs, expected) => {
  expect(nextCommand(needs, NEXT)).toMatch(expected);
});

test('the options of the run are repeated, except those that the command gives itself', () => {
  const options = ['--model', 'my model', '--streaming', '--concurrency', '8', '--sampling=-1'];
  const given = ['--url', 'http://b?x=***', '--scenario', 'my chat', '--runs-dir', 'old'];
  const commandLine = ['llmbench', 'run', ...given, ...options];
  const command = (needs: Parameters<typeof nextCommand>[0]) => nextCommand(needs, { ...NEXT, commandLine });
  const shown = "--model 'my model' --streaming --concurrency 8 --sampling=-1";
  expect(command({ design: 'sets', furtherA: 2, furtherB: 0 })).toBe(
    `llmbench run --url 'http://b?x' --scenario 'my chat' ${shown}   # 2 runs of A`,
  );
  expect(command({ design: 'pairs', pairs: 8, further: 8 })).toBe(
    `llmbench ab --a http://a --b 'http://b?x' --pairs 8 --scenario 'my chat' ${shown}`,
  );
});

test('a comparison in pairs is continued by its own command', () => {
  const continued = (pairs: number): readonly string[] => [
    'llmbench',
    'ab',
    '--b-model',
    'my n',
    '--pairs',
    String(pairs),
  ];
  const next = nextCommand({ design: 'pairs', pairs: 8, further: 2 }, { ...NEXT, continued });
  expect(next).toBe("llmbench ab --b-model 'my n' --pairs 8");
});

test('only a suspicion is confirmed', () => {
  expect(nextCommand({ design: 'confirm', further: 3 }, { ...NEXT, verdict: 'suspect' })).toMatch(
    /^llmbench check --scenario 'my chat' --confirm 3 -- --url /,
  );
});

test('results of another tool are imported, also to confirm', () => {
  const context: NextContext = { ...NEXT, verdict: 'suspect', tool: 'aiperf' };
  expect(nextCommand({ design: 'confirm', further: 3 }, context)).toBe(
    "llmbench import <results of aiperf> --scenario 'my chat'   # 3 runs, then: llmbench check --scenario 'my chat'",
  );
});

test('of recorded windows further ones are imported, never measured', () => {
  const context: NextContext = { ...NEXT, tool: 'prometheus' };
  const imported = "llmbench import --prometheus URL --match SELECTOR --from TIME --scenario 'my chat'";
  expect(nextCommand({ design: 'pairs', pairs: 14, further: 2 }, context)).toBe(
    `${imported} --slice TIME   # 14 slices of A and of B, of the same times`,
  );
  expect(nextCommand({ design: 'sets', furtherA: 1, furtherB: 0 }, context)).toBe(`${imported}   # 1 run of A`);
});

test('runs that are there already are accepted; each command is for the same runs directory', () => {
  const needs = { design: 'baseline', further: 5 } as const;
  expect(nextCommand(needs, { ...NEXT, acceptable: 4, runsDirectory: 'x' })).toMatch(
    /--runs-dir x .* # 5 runs, then: llmbench baseline accept 'scenario:my chat\+last:5' --runs-dir x$/,
  );
  expect(nextCommand(needs, { ...NEXT, acceptable: 5, runsDirectory: 'x' })).toMatch(
    /^llmbench baseline accept 'scenario:my chat' --runs-dir x /,
  );
});
