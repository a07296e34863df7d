import { oldestFirst } from '../run/run-order.ts';
import type { VerdictName } from './verdict.ts';
import type { KeyDistribution, KeyNumbers, RunSummary } from './runs.ts';

type SortValue = string | number | null;

const distribution =
  (measure: 'time_to_first_token' | 'inter_token_latency' | 'request_latency', stat: keyof KeyDistribution) =>
  ({ numbers }: RunSummary): SortValue =>
    numbers?.[`${measure}_seconds`]?.[stat] ?? null;

const number =
  (name: keyof KeyNumbers & ('request_throughput' | 'output_token_throughput' | 'error_ratio' | 'goodput')) =>
  ({ numbers }: RunSummary): SortValue =>
    numbers?.[name] ?? null;

/** From the best to the worst. */
const VERDICT_ORDER: readonly VerdictName[] = ['improved', 'unchanged', 'undecided', 'suspect', 'regressed'];

/** What runs can be ordered by. */
const SORT_VALUES = {
  start: (run: RunSummary): SortValue => run.start ?? run.imported_at,
  end: (run: RunSummary): SortValue => run.end,
  duration: (run: RunSummary): SortValue => run.duration_seconds,
  scenario: (run: RunSummary): SortValue => run.scenario,
  model: (run: RunSummary): SortValue => run.model,
  system: (run: RunSummary): SortValue => run.system,
  tool: (run: RunSummary): SortValue => run.tool,
  status: (run: RunSummary): SortValue => run.status,
  verdict: ({ verdict }: RunSummary): SortValue => verdict && VERDICT_ORDER.indexOf(verdict.verdict),
  requests: ({ numbers }: RunSummary): SortValue => numbers?.requests.ok ?? null,
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
} as const;

export type SortKey = keyof typeof SORT_VALUES;
export type SortOrder = SortKey | `-${SortKey}`;

/** Each key, and with a minus before it for the largest first. */
export const SORT_ORDERS = (Object.keys(SORT_VALUES) as SortKey[]).flatMap((key): SortOrder[] => [key, `-${key}`]);

/** The runs in this order; those without the value come last either way, equal ones keep their places. */
export function inOrder(runs: readonly RunSummary[], order: SortOrder): RunSummary[] {
  const descending = order.startsWith('-');
  const key = order.replace(/^-/, '') as SortKey;
  const valueOf = SORT_VALUES[key];
  // A time may be that of an import, which its runs share.
  const ofEqual = key === 'start' ? oldestFirst : (): number => 0;
  return runs
    .map((run) => ({ run, value: valueOf(run) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
      const ascending = a.value < b.value ? -1 : a.value > b.value ? 1 : ofEqual(a.run, b.run);
      return descending ? -ascending : ascending;
    })
    .map(({ run }) => run);
}
