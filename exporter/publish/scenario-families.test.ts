import { describe, expect, test } from '@jest/globals';
import { writePage } from '../../core/exposition/index.ts';
import { stateOf, type ScenarioState } from '../judge/scenario-state.ts';
import { exampleCapacity } from '../store/fixtures/example-capacity.ts';
import type { VerdictEntry } from '../../core/api/verdict.ts';
import { scenarioFamilies } from './scenario-families.ts';

const VERDICT: VerdictEntry = {
  ...{ schema_version: 1, scenario: 'chat', at: '2026-11-22T10:00:00.500Z', verdict: 'regressed', reason: 'decided' },
  ...{ sentence: 's', needs: null, fingerprint: 'f', run_ids: ['r1', 'r2'], baseline_run_ids: ['b'], left_out: null },
  ...{ anchor_verdict: null, author: null },
  measures: [
    {
      ...{ measure: 'time_to_first_token', stat: 'p50', unit: 'seconds', definition: 'd', origin: 'client' },
      ...{ population: 'ok', clock: 'due', direction: 'lower', gating: true, verdict: 'regressed', reason: 'decided' },
      ...{ sentence: 's', effect: { low: 1.05, estimate: 1.1, high: Infinity }, confidence: 0.95 },
      ...{ method: 'rank_sum_exact', runs: { a: 20, b: 3 }, margin: 0.05, detectable: 0.06, p: null, needs: null },
    },
  ],
};

const state = (change: Partial<ScenarioState>): ScenarioState => ({
  ...{ scenario: 'chat', state: 'regressed', newest: VERDICT, open: openAfter(VERDICT), undecidedInARow: 0 },
  ...{ baseline: { accepted: ['b', 'c'], pinned: [] }, verdictOf: new Map(), capacities: [] },
  ...change,
});

function openAfter(verdict: VerdictEntry): ScenarioState['open'] {
  return stateOf([verdict], [])?.open ?? null;
}

const page = (...given: Parameters<typeof scenarioFamilies>): string =>
  writePage(scenarioFamilies(...given), 'text')
    .split('\n')
    .filter((line) => !line.startsWith('#') && line !== '')
    .join('\n');

test('a regressed scenario as state sets, with the effect, its bounds, the margin and the runs', () => {
  // As read from the file: JSON has null for an infinite bound.
  const judged = { ...VERDICT, first_start: '2026-11-21T21:30:00.000Z' };
  const stored = JSON.parse(JSON.stringify(judged)) as VerdictEntry;
  expect(page([state({ newest: stored, open: openAfter(stored) })], new Map([['chat', 86_400]]))).toBe(
    `llmbench_scenario_verdict{scenario="chat",verdict="regressed"} 1
llmbench_scenario_verdict{scenario="chat",verdict="improved"} 0
llmbench_scenario_verdict{scenario="chat",verdict="unchanged"} 0
llmbench_scenario_verdict{scenario="chat",verdict="suspect"} 0
llmbench_scenario_verdict{scenario="chat",verdict="undecided"} 0
llmbench_scenario_regression_open{scenario="chat"} 1
llmbench_scenario_regression_acknowledged{scenario="chat"} 0
llmbench_scenario_regression_open_since_timestamp_seconds{scenario="chat"} 1795296600
llmbench_scenario_measure_verdict{scenario="chat",measure="time_to_first_token_from_due",stat="p50",verdict="regressed"} 1
llmbench_scenario_measure_verdict{scenario="chat",measure="time_to_first_token_from_due",stat="p50",verdict="improved"} 0
llmbench_scenario_measure_verdict{scenario="chat",measure="time_to_first_token_from_due",stat="p50",verdict="unchanged"} 0
llmbench_scenario_measure_verdict{scenario="chat",measure="time_to_first_token_from_due",stat="p50",verdict="suspect"} 0
llmbench_scenario_measure_verdict{scenario="chat",measure="time_to_first_token_from_due",stat="p50",verdict="undecided"} 0
llmbench_scenario_effect_ratio{scenario="chat",measure="time_to_first_token_from_due",stat="p50",bound="low"} 1.05
llmbench_scenario_effect_ratio{scenario="chat",measure="time_to_first_token_from_due",stat="p50",bound="estimate"} 1.1
llmbench_scenario_margin_ratio{scenario="chat",measure="time_to_first_token_from_due",stat="p50"} 0.05
llmbench_scenario_baseline_runs{scenario="chat"} 2
llmbench_scenario_consecutive_undecided_checks{scenario="chat"} 0
llmbench_scenario_last_judged_timestamp_seconds{scenario="chat"} 1795341600.5
llmbench_scenario_judged_run_info{scenario="chat",run_id="r1"} 1
llmbench_scenario_judged_run_info{scenario="chat",run_id="r2"} 1
llmbench_scenario_expected_interval_seconds{scenario="chat"} 86400`,
  );
});

describe('while a regression is open', () => {
  const [MEASURE] = VERDICT.measures;
  const night = (day: number, change: Partial<VerdictEntry>): VerdictEntry => ({
    ...{ ...VERDICT, at: `2026-11-${day}T10:00:00.000Z`, run_ids: [`r${day}`], recovered: false },
    ...change,
  });
  const pageAfter = (verdicts: readonly VerdictEntry[], ...given: readonly object[]): string =>
    page([stateOf(verdicts, given)].filter((each) => each !== null));
  const undecided = night(23, { verdict: 'undecided', measures: [] });

  test('a night that cannot be decided takes away neither the largest change nor a run', () => {
    const text = pageAfter([VERDICT, undecided]);
    expect(text).toContain('llmbench_scenario_verdict{scenario="chat",verdict="undecided"} 1');
    expect(text).toContain('llmbench_scenario_regression_open{scenario="chat"} 1');
    expect(text).toContain('llmbench_scenario_consecutive_undecided_checks{scenario="chat"} 1');
    const measure = 'scenario="chat",measure="time_to_first_token_from_due",stat="p50"';
    expect(text).toContain(`llmbench_scenario_effect_ratio{${measure},bound="estimate"} 1.1`);
    expect(text).toContain(`llmbench_scenario_measure_verdict{${measure},verdict="regressed"} 1`);
    for (const run of ['r1', 'r2', 'r23']) expect(text).toContain(`run_id="${run}"`);
  });

  test('a smaller change of a later night does not replace it, a larger one does', () => {
    const changed = (day: number, estimate: number): VerdictEntry => {
      const effect = { low: 1.01, estimate, high: 2 };
      return night(day, { measures: MEASURE === undefined ? [] : [{ ...MEASURE, effect }] });
    };
    const effects = (text: string): string[] => text.match(/effect_ratio.*estimate"} .*/g) ?? [];
    expect(effects(pageAfter([VERDICT, changed(23, 1.07)]))).toEqual([expect.stringMatching(/ 1\.1$/)]);
    expect(effects(pageAfter([VERDICT, changed(23, 1.07), changed(24, 1.3)]))).toEqual([
      expect.stringMatching(/ 1\.3$/),
    ]);
  });

  test('it stays open when somebody acknowledges it, which has a series; a new baseline ends it', () => {
    const change = {
      schema_version: 1,
      scenario: 'chat',
      at: '2026-11-24T09:00:00.000Z',
      author: 'ana',
      reason: 'known',
    };
    const acknowledged = pageAfter([VERDICT, undecided], { ...change, action: 'acknowledge', run_ids: ['r1'] });
    expect(acknowledged).toContain('llmbench_scenario_regression_open{scenario="chat"} 1');
    expect(acknowledged).toContain('llmbench_scenario_regression_acknowledged{scenario="chat"} 1');
    const accepted = pageAfter([VERDICT, undecided], { ...change, action: 'accept', run_ids: ['r1'] });
    expect(accepted).toContain('llmbench_scenario_regression_open{scenario="chat"} 0');
    expect(accepted).not.toContain('open_since');
  });

  test('of a very long one the last hundred runs are named', () => {
    const nights = Array.from({ length: 120 }, (_, i) => night(23, { run_ids: [`n${i}`] }));
    const runs = pageAfter([VERDICT, ...nights]).match(/judged_run_info/g);
    expect(runs).toHaveLength(100);
  });
});

test('a scenario with a baseline and no verdict has only its baseline; without any there is nothing', () => {
  expect(page([state({ newest: null, open: null })])).toBe('llmbench_scenario_baseline_runs{scenario="chat"} 2');
  expect(page([])).toBe('');
});

test('the capacity of a scenario has a series for each bound that is known', () => {
  const idle = { newest: null, open: null, baseline: { accepted: [], pinned: [] } };
  const rate = exampleCapacity({ load: 'request_rate', holds: 22.63, fails: null });
  const text = page([state({ ...idle, capacities: [exampleCapacity(), rate] })]);
  expect(text).toBe(`llmbench_scenario_baseline_runs{scenario="chat"} 0
llmbench_scenario_capacity{scenario="chat",load="concurrency",objective="time_to_first_token:p95<300ms",bound="holds"} 8
llmbench_scenario_capacity{scenario="chat",load="concurrency",objective="time_to_first_token:p95<300ms",bound="fails"} 9
llmbench_scenario_capacity{scenario="chat",load="request_rate",objective="time_to_first_token:p95<300ms",bound="holds"} 22.63`);
});
