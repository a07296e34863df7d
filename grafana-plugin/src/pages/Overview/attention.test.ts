import type { ListedScenario } from '../../../../core/api/scenarios.ts';
import { attentionOf, byUrgency } from './attention.ts';
import { scenarioAttention } from './prometheus-overview.ts';

const scenario = (change: object) =>
  ({
    ...{ scenario: 'chat', open_regression: null, verdict: null, state: 'ok', undecided_checks: 0 },
    ...{ overdue: null, last_completed: null, expected_interval_seconds: null },
    ...change,
  }) as unknown as ListedScenario;
const open = (acknowledged: object | null) => ({
  ...{ sentence: 'regressed since r1', since: '2026-11-21T10:00:00Z', acknowledged, needs_to_recover: 2 },
  ...{ run_ids: ['r1'], baseline_run_ids: ['r0'] },
});
const verdict = (name: string) => ({ verdict: name, sentence: name, run_ids: ['b'], baseline_run_ids: ['a'] });

test('a scenario may ask for several things: each with its comparison, the most urgent first', () => {
  const items = byUrgency(
    attentionOf(
      scenario({ open_regression: open(null), overdue: true, verdict: verdict('undecided'), undecided_checks: 3 }),
      '?var-prometheus=p'
    )
  );
  expect(items.map(({ kind }) => kind)).toEqual(['regressed', 'overdue', 'undecided']);
  expect(items[0]?.compareUrl).toMatch(/compare\?var-prometheus=p&a=r0&b=r1$/);
  expect(items[2]).toMatchObject({ facts: ['3 checks in a row'], compareUrl: expect.stringMatching(/a=a&b=b$/) });
});

test('a known regression is not called one, and nothing is said of a scenario that is fine', () => {
  const [known] = attentionOf(scenario({ open_regression: open({ at: '', author: 'ana', reason: 'r' }) }), '');
  expect(known?.kind).toBe('acknowledged');
  expect(attentionOf(scenario({ verdict: verdict('unchanged'), overdue: false }), '')).toEqual([]);
});

const NOW = 1_000_000;
const one = (refId: string, labels: Record<string, string>, value: number) => ({
  ...{ refId: `scenario ${refId}`, labels: { scenario: 'chat', ...labels }, times: [0], values: [value] },
});

test('from Prometheus: the largest change of what regressed, what is suspect, and what is overdue or never completed', () => {
  const items = scenarioAttention(
    [
      one('open', {}, 1),
      one('since', {}, 1_700_000_000),
      one('effect', { measure: 'time_to_first_token', stat: 'p50' }, 1.34),
      one('effect', { measure: 'output_token_throughput', stat: 'value' }, 0.9),
      one('effect', { measure: 'inter_token_latency', stat: 'p50' }, 3),
      one('measure', { measure: 'time_to_first_token', stat: 'p50' }, 1),
      one('measure', { measure: 'output_token_throughput', stat: 'value' }, 1),
      one('verdict', { scenario: 'rag', verdict: 'suspect' }, 1),
      one('interval', { scenario: 'late' }, 100),
      one('completed', { scenario: 'late' }, NOW - 201),
      one('interval', { scenario: 'timely' }, 100),
      one('completed', { scenario: 'timely' }, NOW - 199),
      one('interval', { scenario: 'never' }, 100),
    ],
    NOW
  );
  expect(items.map(({ kind, scenario: name }) => [kind, name])).toEqual([
    ['regressed', 'chat'],
    ['suspect', 'rag'],
    ['overdue', 'late'],
    ['overdue', 'never'],
  ]);
  expect(items[0]?.sentence).toBe('Largest change: time to first token p50 +34 %.');
  expect(items[3]?.sentence).toBe('No run has completed.');
});
