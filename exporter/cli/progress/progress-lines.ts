import { shortTitle } from '../../../core/measures/names.ts';
import type { PhaseName } from '../../../core/run/record.ts';
import { things, ABSENT, quantity, significant } from '../../../core/text/quantities.ts';
import type { ServerLoadNow } from '../../servers/summary/load-now.ts';

const LEVELS = '▁▂▃▄▅▆▇█';

/** One character per value, scaled from 0 to the maximum; a space where unknown. */
export function sparkline(values: readonly (number | null)[]): string {
  const most = values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0);
  return values
    .map((value) => {
      if (value === null) return ' ';
      const level = most === 0 ? 0 : Math.round((value / most) * (LEVELS.length - 1));
      return LEVELS.charAt(Math.max(0, level));
    })
    .join('');
}

/** A latency of the last seconds, in seconds. */
export interface RecentLatency {
  readonly p50: number | null;
  readonly p99: number | null;
  /** One median per second, the oldest first. */
  readonly trend: readonly (number | null)[];
}

/** The state of a run at one moment. */
export interface ProgressState {
  readonly phase: PhaseName;
  /** What ends the phase: a number of requests or a time, whichever comes first. */
  readonly plannedRequests: number | null;
  readonly plannedSeconds: number | null;
  readonly elapsedSeconds: number;
  readonly done: number;
  readonly inFlight: number;
  /** Since the last content or end of a request, while requests are in flight. */
  readonly silentSeconds: number;
  /** Failed requests by reason. */
  readonly failures: ReadonlyMap<string, number>;
  readonly recentSeconds: number;
  readonly requestsPerSecond: number;
  /** Null when the server does not report tokens. */
  readonly tokensPerSecond: number | null;
  readonly timeToFirstToken: RecentLatency;
  readonly interTokenLatency: RecentLatency;
  /** Null when nothing is collected. */
  readonly servers: ServerLoadNow | null;
}

/** A shorter silence is usual. */
const SILENT_SECONDS = 10;
const TTFT = shortTitle('time_to_first_token');
const ITL = shortTitle('inter_token_latency');

/** Narrower terminals get a shorter bar and a separate line for the servers. */
const WIDE_COLUMNS = 100;

/** The lines of the updating display; the most important facts come first, where a narrow terminal cuts nothing off. */
export function progressLines(state: ProgressState, columns = WIDE_COLUMNS): string[] {
  const isWide = columns >= WIDE_COLUMNS;
  const [requests, ...times] = position(state);
  const facts = [requests, failures(state), inFlight(state), ...times];
  const servers = serversNow(state);
  return [
    `${state.phase.padEnd(8)} ${bar(share(state), isWide ? 20 : 8)} ${facts.join(' · ')}`,
    `last ${state.recentSeconds} s  ${[rates(state), ...(isWide ? servers : [])].join(' · ')}`,
    ...(isWide ? [] : servers.map((line) => line.replace(/^server/, 'server  '))),
    latencyLine(TTFT, state.timeToFirstToken),
    latencyLine(ITL, state.interTokenLatency),
  ];
}

/** The same as one plain line, for logs. */
export function progressLine(state: ProgressState): string {
  const { timeToFirstToken: ttft, interTokenLatency: itl } = state;
  const latency = (name: string, { p50, p99 }: RecentLatency): string =>
    `${name} p50 ${quantity(p50, 'seconds')} p99 ${quantity(p99, 'seconds')}`;
  return [
    `${state.phase} ${position(state).join(' · ')}`,
    inFlight(state),
    failures(state),
    `last ${state.recentSeconds} s: ${rates(state)}`,
    latency(TTFT, ttft),
    latency(ITL, itl),
    ...serversNow(state),
  ].join(' · ');
}

function inFlight({ inFlight: count, silentSeconds: silent }: ProgressState): string {
  return `${count} in flight${silent < SILENT_SECONDS ? '' : `, no response for ${durationWords(silent)}`}`;
}

function latencyLine(name: string, { p50, p99, trend }: RecentLatency): string {
  const numbers = `p50 ${quantity(p50, 'seconds').padEnd(8)} p99 ${quantity(p99, 'seconds').padEnd(8)}`;
  return `${name.padEnd(8)} ${numbers} ${sparkline(trend)}`.trimEnd();
}

function rates({ requestsPerSecond, tokensPerSecond }: ProgressState): string {
  const tokens = tokensPerSecond === null ? ABSENT : significant(tokensPerSecond);
  return `${significant(requestsPerSecond)} requests/s · ${tokens} tokens/s`;
}

/** Empty when nothing is collected. */
function serversNow({ servers }: ProgressState): string[] {
  if (servers === null) return [];
  const { running, waiting, kvCacheUsage } = servers;
  const count = (value: number | null): string => (value === null ? ABSENT : significant(value));
  return [`server ${count(running)} running, ${count(waiting)} waiting, KV cache ${quantity(kvCacheUsage, 'ratio')}`];
}

function failures({ failures: byReason }: ProgressState): string {
  const all = [...byReason.values()].reduce((sum, count) => sum + count, 0);
  if (all === 0) return '0 failed';
  const named = [...byReason].sort(([, a], [, b]) => b - a).map(([reason, count]) => `${reason} ${count}`);
  return `${all} failed (${named.slice(0, 3).join(', ')}${named.length > 3 ? ', …' : ''})`;
}

/** Number of requests and elapsed time. */
function position(state: ProgressState): string[] {
  const { plannedRequests: count, plannedSeconds: seconds, elapsedSeconds: elapsed, done } = state;
  const requests = count === null ? things(done, 'requests') : `${significant(done)} of ${things(count, 'requests')}`;
  const time =
    seconds === null ? `${elapsed.toFixed(0)} s` : `${Math.min(elapsed, seconds).toFixed(0)} of ${seconds} s`;
  return [requests, time, ...timeLeft(state)];
}

/** Completed share of the phase, 0 to 1, by the limit that will end it first. */
function share({ plannedRequests, plannedSeconds, elapsedSeconds, done }: ProgressState): number {
  return Math.max(
    plannedRequests === null ? 0 : done / plannedRequests,
    plannedSeconds === null ? 0 : elapsedSeconds / plannedSeconds,
  );
}

/** Estimated from the average of the finished requests; empty before the first. */
function timeLeft({ plannedRequests, plannedSeconds, elapsedSeconds, done }: ProgressState): string[] {
  const left: number[] = [];
  if (plannedSeconds !== null) left.push(plannedSeconds - elapsedSeconds);
  if (plannedRequests !== null && done > 0) left.push(((plannedRequests - done) / done) * elapsedSeconds);
  if (left.length === 0) return [];
  const seconds = Math.min(...left);
  return [seconds <= 0 ? 'finishing' : `${durationWords(seconds)} left`];
}

function durationWords(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 120) return `${whole} s`;
  if (whole < 7200) return `${Math.round(whole / 60)} min`;
  return `${(whole / 3600).toFixed(1)} h`;
}

function bar(part: number, length: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, part)) * length);
  return '█'.repeat(filled) + '░'.repeat(length - filled);
}
