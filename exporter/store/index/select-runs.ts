import type { OrderedRun } from '../../../core/run/run-id.ts';
import { nearestNames } from '../../../core/text/nearest-names.ts';
import { unknownNewest } from '../../../core/text/run-order-notes.ts';

/** What of a finished run a selector looks at. */
export interface SelectableRun extends OrderedRun {
  readonly scenario: string | null;
  readonly group_id: string | null;
  readonly tags: readonly string[];
  /** Why the run cannot be read; null when it can. */
  readonly damage: string | null;
}

/** A selector that is wrong or names no readable run. The message is one line for people, without the directory. */
export class SelectionError extends Error {
  override readonly name = 'SelectionError';
  readonly problem: 'invalid' | 'not_found' | 'damaged';
  /** What was probably meant, as `did you mean tag:before?`; null where nothing is like it. */
  readonly hint: string | null;

  constructor(problem: SelectionError['problem'], message: string, hint: string | null = null) {
    super(message);
    this.problem = problem;
    this.hint = hint;
  }
}

const MAX_CANDIDATES = 5;

/**
 * The readable finished runs that a selector names, oldest first, each once: a list with commas of run ids (or unique
 * prefixes, or `latest`), `scenario:NAME`, `tag:TAG`, `group:ID` and `last:N`; `+` combines conditions. Throws a
 * `SelectionError` when a part of it is wrong or names no run.
 *
 * @param runs the finished runs, newest first
 */
export function selectRuns<Run extends SelectableRun>(runs: readonly Run[], selector: string): readonly Run[] {
  const found = new Set(selector.split(',').flatMap((part) => selectedBy(part.trim(), runs)));
  return runs.filter((run) => found.has(run)).reverse();
}

/** Finds one run by id, by a unique prefix of it, or by `latest`, also a damaged one. Throws a `SelectionError`. */
export function namedRun<Run extends SelectableRun>(runs: readonly Run[], name: string): Run {
  const exact = runs.find(({ run_id }) => run_id === name);
  if (exact !== undefined) return exact;
  if (name === 'latest' && runs[0] !== undefined) {
    const readable = runs.filter(({ damage }) => damage === null);
    return newestRuns(readable, 1, name)[0] ?? runs[0];
  }
  const candidates = name === '' ? [] : runs.filter(({ run_id }) => run_id.startsWith(name));
  const [only, ...others] = candidates;
  if (only === undefined) throw new SelectionError('not_found', `no run ${JSON.stringify(name)}`);
  if (others.length > 0) {
    const some = candidates.slice(0, MAX_CANDIDATES).map(({ run_id }) => run_id);
    const more = candidates.length > some.length ? `, … (${candidates.length})` : '';
    throw new SelectionError('invalid', `${name} is a prefix of several runs: ${some.join(', ')}${more}`);
  }
  return only;
}

/** The first of runs, newest first. Throws a `SelectionError` when it is not known which they are. */
export function newestRuns<Run extends SelectableRun>(
  runs: readonly Run[],
  count: number,
  what: string,
): readonly Run[] {
  const problem = unknownNewest(runs, count);
  if (problem !== null) throw new SelectionError('invalid', `${what}: ${problem}`);
  return runs.slice(0, count);
}

function selectedBy<Run extends SelectableRun>(part: string, runs: readonly Run[]): readonly Run[] {
  if (!/^(scenario|tag|group|last):/.test(part)) return [readable(namedOrMeant(runs, part))];
  const conditions = part.split(/\+(?=(?:scenario|tag|group|last):)/);
  const selected = conditions.reduce<readonly Run[]>(
    narrowed,
    runs.filter(({ damage }) => damage === null),
  );
  if (selected.length === 0) throw new SelectionError('not_found', `no run matches ${part}`, meant(part, runs));
  return selected;
}

/** Like `namedRun`; for the name of a scenario, a tag or a group the error says how that is selected. */
function namedOrMeant<Run extends SelectableRun>(runs: readonly Run[], name: string): Run {
  try {
    return namedRun(runs, name);
  } catch (error) {
    if (!(error instanceof SelectionError)) throw error;
    throw new SelectionError(error.problem, error.message, meant(name, runs));
  }
}

/** The selectors that have exactly this name, or the one that is most like it. */
function meant(part: string, runs: readonly SelectableRun[]): string | null {
  const named = runs.flatMap(({ scenario, group_id, tags }) => [
    ...(scenario === null ? [] : [['scenario', scenario] as const]),
    ...tags.map((tag) => ['tag', tag] as const),
    ...(group_id === null ? [] : [['group', group_id] as const]),
  ]);
  const selectors = new Map(named.map(([kind, name]) => [`${kind}:${name}`, name]));
  const name = part.replace(/^[a-z]+:/i, '').toLowerCase();
  const exact = [...selectors].flatMap(([selector, own]) => (own.toLowerCase() === name ? [selector] : []));
  const [alike] = nearestNames(name, selectors.values(), 1);
  const found =
    exact.length > 0 ? exact : [...selectors].flatMap(([selector, own]) => (own === alike ? [selector] : []));
  const others = found.filter((selector) => selector !== part).slice(0, MAX_CANDIDATES);
  return others.length === 0 ? null : `did you mean ${others.join(' or ')}?`;
}

function readable<Run extends SelectableRun>(run: Run): Run {
  if (run.damage !== null) throw new SelectionError('damaged', `${run.run_id} cannot be read: ${run.damage}`);
  return run;
}

function narrowed<Run extends SelectableRun>(runs: readonly Run[], condition: string): readonly Run[] {
  const [, kind, value = ''] = /^(scenario|tag|group|last):(.*)$/s.exec(condition) ?? [];
  if (kind === 'scenario') return runs.filter(({ scenario }) => scenario === value);
  if (kind === 'group') return runs.filter(({ group_id }) => group_id === value);
  if (kind === 'tag') return runs.filter(({ tags }) => tags.includes(value));
  const count = Number(value);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new SelectionError('invalid', `${condition}: last:N requires a positive integer`);
  }
  return newestRuns(runs, count, condition);
}

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

const FILTER_FIELDS = [...Object.keys(FIELDS), 'tag'];

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
