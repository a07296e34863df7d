import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';
import { catalogs } from '../catalog/load.ts';
import { DISTRIBUTION_MEASURES } from '../core/measures/measures.ts';
import { knownMetrics, ruleFiles, type Rule } from './known-metrics.ts';
import { OBJECTIVES } from '../core/objectives/rule-settings.ts';
import { renderObjectives } from './objectives.ts';
import { selectors } from './promql.ts';
import { RUNBOOKS_URL } from './rule-text.ts';
import { queryFaults } from './testing/query-faults.ts';

interface UnitTests {
  readonly tests: readonly {
    readonly promql_expr_test?: readonly {
      readonly expr: string;
      readonly exp_samples: readonly { readonly labels: string }[];
    }[];
    readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts?: readonly unknown[] }[];
  }[];
}

const HERE = new URL('.', import.meta.url);
const KNOWN = knownMetrics();
const RULES = ruleFiles('rules')
  .map(([file, rules]) => ({ system: file.replace('.yml', ''), rules }))
  .filter(({ system }) => system !== 'objectives');
const ALERTS = ruleFiles('alerts').flatMap(([, rules]) => rules.filter(({ alert }) => alert !== undefined));

/** The flows and levels that all systems share, besides the histograms. */
const SHARED =
  /^system:(requests_running:sum|requests_waiting:sum|kv_cache_usage_ratio:max|(preemptions|requests|request_errors|prompt_tokens|output_tokens):rate)$/;

/**
 * Alerts on a state that holds until the next run is judged or ends, or until discovery changes: waiting adds nothing.
 */
const IMMEDIATE = new Set([
  'LlmBenchmarkRunning',
  'LlmObjectiveMissed',
  'LlmScenarioRegressed',
  'LlmScenarioSlowerHeuristic',
  'LlmScenarioUndecided',
]);

function unitTests(file: string): UnitTests['tests'] {
  return (parse(readFileSync(new URL(`tests/${file}`, HERE), 'utf8')) as UnitTests).tests;
}

function measureOf({ record = '' }: Rule): string {
  return /^system:(.+)_seconds_bucket:rate$/.exec(record)?.[1] ?? '';
}

describe.each(RULES)('the recording rules of $system', ({ system, rules }) => {
  const histograms = rules.filter((rule) => measureOf(rule) !== '');

  test('use the common vocabulary', () => {
    for (const { record = '', labels = {}, expr } of rules) {
      expect(labels['system']).toBe(system);
      if (SHARED.test(record)) {
        expect(Object.keys(labels)).toEqual(['system']);
        expect(expr).toMatch(/^(sum|max) by \((model, )?instance\) \(/);
      } else {
        expect(record).toMatch(/^system:[a-z_]+_seconds_bucket:rate$/);
        expect(Object.keys(labels)).toEqual(['system', 'definition']);
        // What the labels do not set, the sum keeps, and nothing else.
        expect(expr).toMatch(/^sum by \(model, instance, le\) \(/);
      }
    }
  });

  test('query only what is exposed, in a valid way', () => {
    expect(
      rules.flatMap(({ record = '', expr }) => queryFaults(expr, KNOWN).map((fault) => `${record}: ${fault}`)),
    ).toEqual([]);
  });

  test('record each definition once, and each has a promtool test that expects it', () => {
    const keys = rules.map(({ record = '', labels = {} }) => `${record} ${labels['definition'] ?? ''}`);
    expect(new Set(keys).size).toBe(keys.length);
    const expressions = unitTests(`rules-${system}.yml`).flatMap((group) => group.promql_expr_test ?? []);
    for (const { record = '', labels = {} } of rules) {
      const expected = expressions
        .filter(({ expr }) => expr.includes(record))
        .flatMap(({ exp_samples: samples }) => samples.map((sample) => sample.labels));
      const wanted = labels['definition'] === undefined ? `system="${system}"` : `definition="${labels['definition']}"`;
      expect([record, expected.join('\n')]).toEqual([record, expect.stringContaining(wanted)]);
    }
  });

  test('never put values per request among values per gap, or the other way round', () => {
    const families = new Map(catalogs().flatMap((catalog) => catalog.families.map((family) => [family.name, family])));
    for (const rule of histograms) {
      const perGap = measureOf(rule) === 'inter_chunk_latency';
      for (const { metric } of selectors(rule.expr).filter(({ metric: name }) => name.endsWith('_bucket'))) {
        const per = families.get(metric.replace('_bucket', ''))?.per;
        // The client's families are no part of a catalog; its definitions are checked below.
        if (per !== undefined) expect([metric, per === 'request']).toEqual([metric, !perGap]);
      }
    }
  });
});

test('no file of alerts is named as one of rules: mimirtool loads each as a namespace of its name', () => {
  const [rules, alerts] = (['rules', 'alerts'] as const).map((folder) => ruleFiles(folder).map(([file]) => file));
  expect(alerts?.filter((file) => rules?.includes(file))).toEqual([]);
});

test('the definitions of the client are those of its measures', () => {
  const known = new Set(DISTRIBUTION_MEASURES.map(({ measure, definition }) => `${measure} ${definition}`));
  for (const rule of RULES.find(({ system }) => system === 'client')?.rules ?? []) {
    expect([...known]).toContain(`${measureOf(rule)} ${rule.labels?.['definition'] ?? ''}`);
  }
});

test('no definition of a client is used for a server, so that they are never compared by mistake', () => {
  const definitions = (of: (system: string) => boolean): string[] =>
    RULES.filter(({ system }) => of(system)).flatMap(({ rules }) =>
      rules.map(({ labels = {} }) => labels['definition'] ?? '-'),
    );
  const servers = definitions((system) => system !== 'client');
  expect(definitions((system) => system === 'client').filter((definition) => servers.includes(definition))).toEqual([]);
});

test('the recorded objectives are those of objectives.ts (else: node prometheus/generate.ts)', () => {
  expect(readFileSync(new URL('rules/objectives.yml', HERE), 'utf8')).toBe(renderObjectives());
});

test('the objectives lie below the highest bucket bound of each system, where their alerts can fire', () => {
  const measured = RULES.filter(({ system }) => system !== 'client').flatMap(({ rules }) =>
    rules.flatMap((rule) => selectors(rule.expr).map(({ metric }) => ({ measure: measureOf(rule), metric }))),
  );
  const families = new Map(catalogs().flatMap((catalog) => catalog.families.map((family) => [family.name, family])));
  for (const { measure, limitSeconds } of OBJECTIVES) {
    const histograms = measured.filter((each) => each.measure === measure);
    expect(histograms.length).toBeGreaterThan(2);
    for (const { metric } of histograms) {
      const family = families.get(metric.replace('_bucket', ''));
      const highest = Math.max(...(family?.buckets as readonly number[]));
      const seconds = family?.unit === 'milliseconds' ? highest / 1000 : highest;
      expect([metric, limitSeconds < seconds]).toEqual([metric, true]);
    }
  }
});

test('no alert names a bucket bound: servers differ in theirs', () => {
  const bounded = ALERTS.filter(({ expr }) =>
    selectors(expr).some(({ matchers }) => matchers.some(({ label }) => label === 'le')),
  );
  expect(bounded.map(({ alert }) => alert)).toEqual([]);
});

describe.each(ALERTS.map((rule) => ({ ...rule, name: rule.alert ?? '' })))('the alert $name', (rule) => {
  test('states duration, severity, cause and runbook', () => {
    if (IMMEDIATE.has(rule.name)) expect(rule.for).toBeUndefined();
    else expect(rule.for).toMatch(/^\d+[smh]$/);
    expect(rule.labels?.['severity']).toMatch(/^(info|warning|critical)$/);
    const { summary = '', description = '', runbook_url: runbook = '' } = rule.annotations ?? {};
    expect(summary).not.toBe('');
    // Template blocks may end the sentence.
    expect(description.replace(/ *\{\{- end \}\}$/, '')).toMatch(/\.$/);
    expect(runbook).toBe(`${RUNBOOKS_URL}/${rule.name}.md`);
    expect(existsSync(new URL(`../docs/runbooks/${rule.name}.md`, HERE))).toBe(true);
  });

  test('has a runbook with meaning, diagnosis and remedy', () => {
    const page = readFileSync(new URL(`../docs/runbooks/${rule.name}.md`, HERE), 'utf8');
    expect(page).toContain(`# ${rule.name}`);
    for (const part of ['Meaning', 'Diagnosis', 'Mitigation']) expect(page).toContain(`## ${part}`);
  });

  test('queries only what is exposed', () => {
    expect(queryFaults(rule.expr, KNOWN)).toEqual([]);
    const { description = '' } = rule.annotations ?? {};
    const queries = [...description.matchAll(/query \(printf `([^`]+)`/g)].map(([, text = '']) =>
      text.replaceAll('%q', '"x"'),
    );
    expect(queries.flatMap((query) => queryFaults(query, KNOWN))).toEqual([]);
  });

  test('has promtool tests: it fires, and in four cases it does not', () => {
    const files = readdirSync(new URL('tests/', HERE)).filter((file) => file.startsWith('alerts-'));
    const groups = files
      .flatMap(unitTests)
      .map((group) => (group.alert_rule_test ?? []).filter(({ alertname }) => alertname === rule.name));
    const fired = groups.filter((group) => group.some(({ exp_alerts: alerts = [] }) => alerts.length > 0));
    const silent = groups.filter(
      (group) => group.length > 0 && group.every(({ exp_alerts: alerts = [] }) => alerts.length === 0),
    );
    expect(fired.length).toBeGreaterThanOrEqual(2);
    expect(silent.length).toBeGreaterThanOrEqual(2);
  });
});

test('every page is about an alert that there is', () => {
  const pages = readdirSync(new URL('../docs/runbooks/', HERE)).filter((file) => file.startsWith('Llm'));
  expect(pages.sort()).toEqual(ALERTS.map(({ alert }) => `${alert ?? ''}.md`).sort());
});
