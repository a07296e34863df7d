import { describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { DISTRIBUTION_MEASURES } from '../core/measures/measures.ts';

interface Rule {
  readonly record: string;
  readonly expr: string;
  readonly labels: { readonly system: string; readonly definition: string };
}

interface UnitTests {
  readonly tests: readonly {
    readonly promql_expr_test: readonly {
      readonly expr: string;
      readonly exp_samples: readonly { readonly labels: string }[];
    }[];
  }[];
}

async function yaml(path: string): Promise<unknown> {
  return parse(await readFile(new URL(path, import.meta.url), 'utf8'));
}

async function rulesOf(system: string): Promise<readonly Rule[]> {
  const file = (await yaml(`rules/${system}.yml`)) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  return file.groups.flatMap((group) => group.rules);
}

describe.each(['client', 'vllm'])('the recording rules of %s', (system) => {
  test('speak the common vocabulary', async () => {
    for (const rule of await rulesOf(system)) {
      expect(rule.record).toMatch(/^system:[a-z_]+_seconds_bucket:rate1m$/);
      expect(Object.keys(rule.labels)).toEqual(['system', 'definition']);
      expect(rule.labels.system).toBe(system);
      // What the labels do not set, the sum keeps, and nothing else.
      expect(rule.expr).toMatch(/^sum by \(model, instance, le\) \(/);
    }
  });

  test('record each definition once, and each has a promtool test that expects it', async () => {
    const rules = await rulesOf(system);
    const keys = rules.map((rule) => `${rule.record} ${rule.labels.definition}`);
    expect(new Set(keys).size).toBe(keys.length);
    const { tests } = (await yaml(`tests/rules-${system}.yml`)) as UnitTests;
    for (const rule of rules) {
      const expectations = tests
        .flatMap((group) => group.promql_expr_test)
        .filter(({ expr }) => expr.includes(rule.record))
        .flatMap(({ exp_samples: samples }) => samples.map(({ labels }) => labels));
      expect(expectations.join('\n')).toContain(`definition="${rule.labels.definition}"`);
    }
  });
});

test('the definitions of the client are those of its measures', async () => {
  const known = new Set(DISTRIBUTION_MEASURES.map(({ measure, definition }) => `${measure} ${definition}`));
  for (const rule of await rulesOf('client')) {
    const measure = /^system:(.+)_seconds_bucket/.exec(rule.record)?.[1] ?? '';
    expect([...known]).toContain(`${measure} ${rule.labels.definition}`);
  }
});

test('no definition of a client stands for one of a server: they are never laid over each other by mistake', async () => {
  const client = (await rulesOf('client')).map((rule) => rule.labels.definition);
  const vllm = (await rulesOf('vllm')).map((rule) => rule.labels.definition);
  expect(client.filter((definition) => vllm.includes(definition))).toEqual([]);
});
