import type { ServerRequests } from '../../../core/run/result.ts';
import { things } from '../../../core/text/quantities.ts';
import type { Collection } from '../collection.ts';
import { counterGain, histogramGain } from '../series/cumulative-window.ts';
import { HistogramSeries, isCumulative, ScalarSeries, type Series } from '../series/series.ts';
import type { StatisticsWindow } from '../series/statistics.ts';
import type { TargetStore } from '../series/target-store.ts';
import { gained as gainedTokens, systemsOf } from './gained-quantities.ts';

/** What the client counted in a phase. */
export interface ClientRequests {
  readonly ok: number;
  readonly error: number;
  readonly timeout: number;
  readonly cancelled: number;
  /** Texts of the ok requests that were embedded, scored or ranked; null or absent: responses are generated. */
  readonly documents?: number | null;
  /** By reason. */
  readonly errors: Readonly<Record<string, number>>;
}

/** A target with its window of the run, and the series that another target also exposes. */
export interface CountedTarget {
  readonly store: TargetStore;
  readonly window: StatisticsWindow;
  readonly isRepeated: (series: Series) => boolean;
}

interface CountRule {
  readonly family: string;
  /** Which of the family's series count. */
  readonly counts: (labels: Readonly<Record<string, string>>) => boolean;
  /** The client's requests that this family counts. */
  readonly clientCounts: (client: ClientRequests) => number;
  readonly population: string;
}

const all = (): boolean => true;
const ok = (client: ClientRequests): number => client.ok;
/** An engine reads each text of a request as one of its own. */
const texts = (client: ClientRequests): number => client.documents ?? client.ok;
const answered = (client: ClientRequests): number => client.ok + (client.errors['http_5xx'] ?? 0);
const routed = (client: ClientRequests): number =>
  client.ok + client.error + client.timeout + client.cancelled - (client.errors['http_4xx'] ?? 0);

/**
 * Which family counts which of the client's requests, so that equal populations are compared. In the order in which a
 * request passes the systems, so that a gateway in front of engines comes first.
 */
const RULES: readonly CountRule[] = [
  {
    family: 'dynamo_frontend_requests_total',
    counts: ({ status }) => status === 'success',
    clientCounts: ok,
    population: 'ok',
  },
  {
    family: 'smg_router_requests_total',
    counts: all,
    clientCounts: routed,
    population: 'all except those rejected with 4xx',
  },
  { family: 'vllm:e2e_request_latency_seconds', counts: all, clientCounts: texts, population: 'ok' },
  { family: 'tgi_request_success', counts: all, clientCounts: ok, population: 'ok' },
  { family: 'e2e_request_latency_seconds', counts: all, clientCounts: ok, population: 'ok' },
  { family: 'sglang:num_requests_total', counts: all, clientCounts: texts, population: 'ok' },
  {
    family: 'trtllm_request_success_total',
    counts: ({ finished_reason: reason }) => reason === 'stop' || reason === 'length',
    clientCounts: ok,
    population: 'ok',
  },
  {
    family: 'nv_inference_request_success',
    counts: all,
    clientCounts: answered,
    population: 'ok and failed with 5xx, which Triton counts as successes',
  },
];

/**
 * The server's count of the run's requests beside the client's. The series of all targets are added, each process once.
 * A family that counted nothing (of an idle Triton backend, for example) is skipped in favor of the next one that did.
 * `coolDown`: the client's requests that the servers counted besides the measured ones; null without a cool-down.
 * Null: no target has a family that counts requests.
 */
export function serverRequests(
  targets: readonly CountedTarget[],
  client: ClientRequests,
  coolDown: ClientRequests | null = null,
): ServerRequests | null {
  let first: ServerRequests | null = null;
  for (const rule of RULES) {
    const counted = targets.flatMap((target) => countOn(target, rule));
    if (counted.length === 0) continue;
    const server = counted.includes(null) ? null : counted.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    const ofCoolDown = coolDown && rule.clientCounts(coolDown);
    const expected = rule.clientCounts(client) + (ofCoolDown ?? 0);
    const isOfTexts = rule.clientCounts === texts && client.documents != null;
    // An embedding model reads the query of a ranking as a text of its own, a cross-encoder reads it with each document.
    const withQueries = expected + client.ok + (coolDown?.ok ?? 0);
    const clientCount = isOfTexts && server === withQueries ? withQueries : expected;
    const requests = {
      family: rule.family,
      population: isOfTexts ? 'ok, each text by itself' : rule.population,
      server,
      client: clientCount,
      ...(ofCoolDown === null ? {} : { cool_down: ofCoolDown }),
      difference: server === null ? null : server - clientCount,
    };
    if (server !== 0) return requests;
    first ??= requests;
  }
  return first;
}

/** Failures of requests that no server has taken for a success. */
const NOT_SERVED = new Set(['connect_refused', 'connect_timeout', 'dns', 'tls', 'http_429', 'http_4xx', 'http_5xx']);

/** Why the servers' count of requests is not the client's: `parts` are what the client counted, by phase. Null: it is. */
export function whyCountsDiffer(requests: ServerRequests | null, parts: readonly ClientRequests[]): string | null {
  const difference = requests?.difference ?? 0;
  if (difference === 0) return null;
  if (difference < 0) return `the servers counted ${things(-difference, 'requests')} fewer than the client`;
  const more = `+${things(difference, 'requests')}`;
  const failures = requests?.population.startsWith('ok') === true ? failuresServed(parts) : new Map<string, number>();
  if (failures.size === 0) return `${more} from other clients`;
  const count = [...failures.values()].reduce((sum, each) => sum + each, 0);
  const reasons = [...failures].map(([reason, each]) => `${each} ${reason}`).join(', ');
  return difference <= count
    ? `${more}, which may be this run's own that failed at the client: ${reasons}`
    : `${more}, of which at least ${difference - count} from other clients; up to ${count} may be this run's own that failed at the client: ${reasons}`;
}

/** Failures of the client that the servers may have counted as successes, by reason, the most frequent first. */
function failuresServed(parts: readonly ClientRequests[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [reason, count] of parts.flatMap(({ errors }) => Object.entries(errors))) {
    if (count > 0 && !NOT_SERVED.has(reason)) counts.set(reason, (counts.get(reason) ?? 0) + count);
  }
  return new Map([...counts].sort(([, a], [, b]) => b - a));
}

/** The series of a page that count its server's ok requests since it started; null: it has none. */
export function requestSeries({ series }: TargetStore): (HistogramSeries | ScalarSeries)[] | null {
  for (const rule of RULES) {
    const counting = series
      .filter(isCumulative)
      .filter(({ family, labels }) => family.name === rule.family && rule.counts(labels));
    if (counting.length > 0) return counting;
  }
  return null;
}

/** A null within: such a series exists, but its increase is unknown. */
function countOn({ store, window, isRepeated }: CountedTarget, rule: CountRule): (number | null)[] {
  return store.series
    .filter(({ family }) => family.name === rule.family)
    .filter((series) => rule.counts(series.labels) && !isRepeated(series))
    .map((series) => gained(series, store, window));
}

function gained(series: Series, store: TargetStore, { range }: StatisticsWindow): number | null {
  if (series instanceof HistogramSeries) return histogramGain(series, store, range)?.count ?? null;
  return series instanceof ScalarSeries ? (counterGain(series, store, range)?.increase ?? null) : null;
}

/**
 * Families of cached and of all prompt tokens, counters first; a system that only observes them per request exposes
 * them as sums.
 */
const PAIRS = [
  { cached: 'cached_prompt_tokens_total', all: 'prompt_tokens_total' },
  { cached: 'cached_input_tokens', all: 'input_tokens' },
] as const;

/**
 * The share of the window's prompt tokens that the servers took from a cache, by the counters that the catalog names
 * for it. Null: no system exposes both, or no prompt token was counted.
 */
export function cacheShare(collection: Collection): number | null {
  for (const { cached, all } of PAIRS) {
    for (const system of systemsOf(cached)) {
      const [part, whole] = [gainedTokens(collection, cached, system), gainedTokens(collection, all, system)];
      if (part !== null && whole !== null && whole > 0) return part / whole;
    }
  }
  return null;
}
