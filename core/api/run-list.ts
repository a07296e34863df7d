import { oldestFirst } from '../run/run-id.ts';
import { RUN_STATUSES } from '../run/run.ts';
import { RANGED_KEYS } from './runs.ts';
import type { KeyNumbers, RangedKey, RunFilterQuery, RunGroup, RunsQuery, RunsResponse, RunSummary } from './runs.ts';
import type { VerdictName } from './verdict.ts';

const DEFAULT_LIMIT = 100;

/** The page of runs that is requested, of all runs; by start, the newest first, unless a known order is requested. */
export function listRuns(runs: readonly RunSummary[], query: RunsQuery): RunsResponse {
  const { sort, fold, page = 1, limit = DEFAULT_LIMIT, ...filter } = query;
  const order = SORT_ORDERS.find((one) => one === sort) ?? '-start';
  const found = inOrder(runs.filter(runFilter(filter)), order);
  const rows = fold === 'true' ? foldedRuns(found) : found.map((run) => [run] as const);
  const shown = rows.slice((page - 1) * limit, page * limit);
  return {
    runs: shown.map(([first]) => first),
    ...(fold === 'true' && { groups: shown.flatMap((row) => runGroup(row) ?? []) }),
    ...{ page, limit, total: rows.length },
  };
}

type Row = readonly [RunSummary, ...RunSummary[]];

/** A row for each group and for each run without one, in the order of their first runs. */
export function foldedRuns(runs: readonly RunSummary[]): readonly Row[] {
  const rows = Map.groupBy(runs, ({ run_id, group_id }) => (group_id === null ? `run ${run_id}` : `group ${group_id}`));
  return [...rows.values()].map(([first, ...others]) => [first as RunSummary, ...others]);
}

/** What a row of several runs shows; null for a single run. */
export function runGroup(row: Row): RunGroup | null {
  const [{ group_id }] = row;
  if (row.length < 2 || group_id === null) return null;
  const inSteps = row.toSorted((a, b) => (a.step ?? 0) - (b.step ?? 0) || oldestFirst(a, b));
  const count = <T extends string>(names: readonly T[], of: (run: RunSummary) => T | null): Record<T, number> =>
    Object.fromEntries(names.map((name) => [name, row.filter((run) => of(run) === name).length])) as Record<T, number>;
  const verdicts = row.flatMap(({ verdict }) => (verdict === null ? [] : VERDICT_ORDER.indexOf(verdict.verdict)));
  const ok = row.flatMap(({ numbers }) => numbers?.requests.ok ?? []);
  return {
    group_id,
    runs: row.length,
    loads: new Set(row.map(({ load }) => load)).size,
    first_load: inSteps[0]?.load ?? null,
    last_load: inSteps.at(-1)?.load ?? null,
    statuses: count(RUN_STATUSES, ({ status }) => status),
    slos: count(['met', 'not_met', 'undecided'], ({ numbers }) => numbers?.slos ?? null),
    verdict: VERDICT_ORDER[Math.max(-1, ...verdicts)] ?? null,
    ok_requests: ok.length === 0 ? null : ok.reduce((sum, each) => sum + each, 0),
    ranges: Object.fromEntries(RANGED_KEYS.map((key) => [key, rangeOf(row, key)])) as RunGroup['ranges'],
  };
}

function rangeOf(row: Row, key: RangedKey): readonly [number, number] | null {
  const values = row.map((run) => SORT_VALUES[key](run)).filter((value) => value !== null);
  return values.length === 0 ? null : [Math.min(...values), Math.max(...values)];
}

/** Whether a run is requested. A run without a time of its own is in no span of time. */
export function runFilter(filter: RunFilterQuery): (run: RunSummary) => boolean {
  const { q = '', from = null, to = null, tag = [] } = filter;
  const words = q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const oneOf = (wanted: readonly string[] = [], value: string | null): boolean =>
    wanted.length === 0 || wanted.includes(value ?? '');
  return (run) =>
    oneOf(filter.scenario, run.scenario) &&
    oneOf(filter.model, run.model) &&
    oneOf(filter.system, run.system) &&
    oneOf(filter.tool, run.tool) &&
    oneOf(filter.status, run.status) &&
    oneOf(filter.verdict, run.verdict?.verdict ?? null) &&
    oneOf(filter.group, run.group_id) &&
    oneOf(filter.run_id, run.run_id) &&
    (tag.length === 0 || tag.some((one) => run.tags.includes(one))) &&
    isWithin(run, from, to) &&
    hasWords(run, words);
}

function isWithin({ start, end, status }: RunSummary, from: number | null, to: number | null): boolean {
  if (from === null && to === null) return true;
  if (start === null) return false;
  const ended = status === 'running' || end === null ? Infinity : Date.parse(end);
  return (to === null || Date.parse(start) <= to) && (from === null || ended >= from);
}

function hasWords(run: RunSummary, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { run_id, scenario, model, system, tool, origin, load, dataset, group_id, tags } = run;
  const text = [run_id, scenario, model, system, tool, origin, load, dataset, group_id, ...tags]
    .join('\n')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

type SortValue = string | number | null;

const distribution =
  (measure: 'time_to_first_token' | 'inter_token_latency' | 'request_latency', stat: 'p50' | 'p99') =>
  ({ numbers }: RunSummary): number | null =>
    numbers?.[`${measure}_seconds`]?.[stat] ?? null;

const number =
  (name: keyof KeyNumbers & ('request_throughput' | 'output_token_throughput' | 'error_ratio' | 'goodput')) =>
  ({ numbers }: RunSummary): number | null =>
    numbers?.[name] ?? null;

/** From the best to the worst. */
const VERDICT_ORDER: readonly VerdictName[] = ['improved', 'unchanged', 'undecided', 'suspect', 'regressed'];

/** What runs can be ordered by; null: a run has no value. */
const SORT_VALUES = {
  start: (run: RunSummary) => run.start ?? run.imported_at,
  end: (run: RunSummary) => run.end,
  duration: (run: RunSummary) => run.duration_seconds,
  scenario: (run: RunSummary) => run.scenario,
  model: (run: RunSummary) => run.model,
  system: (run: RunSummary) => run.system,
  tool: (run: RunSummary) => run.tool,
  status: (run: RunSummary) => run.status,
  verdict: ({ verdict }: RunSummary) => verdict && VERDICT_ORDER.indexOf(verdict.verdict),
  requests: ({ numbers }: RunSummary) => numbers?.requests.ok ?? null,
  time_to_first_token_p50: distribution('time_to_first_token', 'p50'),
  time_to_first_token_p99: distribution('time_to_first_token', 'p99'),
  inter_token_latency_p50: distribution('inter_token_latency', 'p50'),
  inter_token_latency_p99: distribution('inter_token_latency', 'p99'),
  request_latency_p50: distribution('request_latency', 'p50'),
  request_latency_p99: distribution('request_latency', 'p99'),
  request_throughput: number('request_throughput'),
  output_token_throughput: number('output_token_throughput'),
  error_ratio: number('error_ratio'),
  goodput: number('goodput'),
};

export type SortKey = keyof typeof SORT_VALUES;
type SortOrder = SortKey | `-${SortKey}`;

/** Each key, and with a minus before it for the largest first. */
export const SORT_ORDERS = (Object.keys(SORT_VALUES) as SortKey[]).flatMap((key): SortOrder[] => [key, `-${key}`]);

/** The value by which a run is ordered; null: it has none, or there is no such key. */
export function sortValue(run: RunSummary, key: string): SortValue {
  return Object.hasOwn(SORT_VALUES, key) ? SORT_VALUES[key as SortKey](run) : null;
}

/** Those without the value come last either way, and of equal ones the newest first. */
function inOrder(runs: readonly RunSummary[], order: SortOrder): RunSummary[] {
  const descending = order.startsWith('-');
  const key = order.replace(/^-/, '') as SortKey;
  return runs
    .map((run) => ({ run, value: sortValue(run, key) }))
    .sort((a, b) => {
      const newestFirst = oldestFirst(b.run, a.run);
      if (a.value === null || b.value === null) {
        return Number(a.value === null) - Number(b.value === null) || newestFirst;
      }
      if (a.value !== b.value) return a.value < b.value === descending ? 1 : -1;
      // A time may be that of an import, which its runs share.
      return key === 'start' && !descending ? -newestFirst : newestFirst;
    })
    .map(({ run }) => run);
}
