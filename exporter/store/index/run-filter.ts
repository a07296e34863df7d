/** The filterable fields of runs and their columns. */
const FIELDS = {
  run: 'run_id',
  scenario: 'scenario',
  model: 'model',
  system: 'system',
  status: 'status',
  tool: 'tool',
  endpoint: 'endpoint_type',
  dataset: 'dataset',
  group: 'group_id',
  fingerprint: 'fingerprint',
} as const;

export const FILTER_FIELDS = [...Object.keys(FIELDS), 'tag'];

/** One condition on a run; all conditions must match. */
export interface Condition {
  readonly field: string;
  readonly negated: boolean;
  /** `*` matches any text. */
  readonly pattern: string;
}

/** `field=pattern` or `field!=pattern`. Throws an `Error` with the expected syntax. */
export function parseCondition(text: string): Condition {
  const [, field, operator, pattern] = /^([a-z]+)(!?=)(.*)$/s.exec(text) ?? [];
  if (field === undefined || pattern === undefined || !FILTER_FIELDS.includes(field)) {
    throw new Error(`FIELD=VALUE or FIELD!=VALUE (* matches any text), FIELD one of ${FILTER_FIELDS.join(', ')}`);
  }
  return { field, negated: operator === '!=', pattern };
}

/** The conditions as SQL over `runs`, with its parameters. A run without a value for a field only matches `!=`. */
export function conditionsSql(conditions: readonly Condition[]): { sql: string; parameters: string[] } {
  const parts = conditions.map(({ field, negated }) => {
    const column = Object.hasOwn(FIELDS, field) ? FIELDS[field as keyof typeof FIELDS] : null;
    const met =
      column === null
        ? 'EXISTS (SELECT 1 FROM json_each(tags) WHERE json_each.value GLOB ?)'
        : `coalesce(${column} GLOB ?, FALSE)`;
    return negated ? `NOT ${met}` : met;
  });
  return {
    sql: parts.length === 0 ? 'TRUE' : parts.join(' AND '),
    parameters: conditions.map(({ pattern }) => globOf(pattern)),
  };
}

/** Only the star is a wildcard here; SQLite's others are escaped. */
const globOf = (pattern: string): string => pattern.replaceAll(/[[?]/g, '[$&]');
