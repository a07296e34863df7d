import { quantity, significant, things } from '../text/quantities.ts';

/** The parts of the time to first token, in the order in which a request passes them, with what screens call them. */
export const FIRST_TOKEN_PARTS = {
  preprocess: 'Frontend: template and tokens',
  router: 'Router',
  queue: 'Server: queue',
  prefill: 'Server: prefill',
  engine: 'Engine: until the first token',
  transfer: 'Transfer and dispatch',
  first_decode: 'Decode worker: first token',
  not_attributed: 'Not attributed',
  outside: 'Outside the servers',
} as const;
export type FirstTokenPartName = keyof typeof FIRST_TOKEN_PARTS;

/** What histograms of the servers gained in the window, all series together. */
export interface ObservedTime {
  readonly families: readonly string[];
  readonly count: number;
  /** Sum of the values. */
  readonly seconds: number;
}

/** A part that the servers observe. */
export interface ObservedPart extends ObservedTime {
  readonly part: FirstTokenPartName;
  /** Observed once by request, or the same number of times for each: by a router for each worker that it chooses. */
  readonly per: 'request' | 'choice';
}

/** What the servers observe of the time to first token. */
export interface ObservedFirstToken {
  /** The whole, of the server that is nearest to the client. */
  readonly whole: ObservedTime;
  readonly parts: readonly ObservedPart[];
  /** The servers themselves show that some of the parts are at the same time. */
  readonly isParallel: boolean;
}

export interface FirstTokenPart {
  readonly part: FirstTokenPartName;
  /** Mean per request. */
  readonly seconds: number;
  /** Empty: it is what the others leave. */
  readonly families: readonly string[];
}

/** The mean time to first token in parts that add up; null is what is not known. */
export interface FirstTokenTime {
  /** The requests that the servers' means are of. */
  readonly requests: number;
  /** Means, of the client and of the server that is nearest to it. */
  readonly client_seconds: number | null;
  readonly server_seconds: number;
  /** Null: there is no such division. */
  readonly parts: readonly FirstTokenPart[] | null;
  /** Why there are no parts, or what they do not cover, a line each. */
  readonly notes: readonly string[];
}

/** Rounding of sums. */
const NOTHING = 1e-9;
/** Means of so many requests more or fewer, such as of those that failed, are taken for those of all, which a note states. */
const NEARLY = 0.05;

interface ClientMean {
  readonly count: number | null;
  readonly mean: number | null;
}

/**
 * Means over the same requests add up, those over others do not: a part of other requests is left out, and the time
 * outside the servers is known only if the client's mean is of theirs. What no part explains is not attributed. Parts that
 * are at the same time, or together exceed the whole, are none.
 */
export function firstTokenTime(
  client: ClientMean,
  { whole, parts: observed, isParallel }: ObservedFirstToken,
): FirstTokenTime {
  const requests = whole.count;
  const server_seconds = whole.seconds / requests;
  const used = observed.filter((part) => isNear(part.count, timesOf(part, requests) * requests));
  const parts = used.map((one) => ({
    part: one.part,
    seconds: (one.seconds / one.count) * timesOf(one, requests),
    families: one.families,
  }));
  const rest = server_seconds - parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const hasOverlap = isParallel || rest < -NOTHING || parts.some(({ seconds }) => seconds < -NOTHING);
  const outside = outsideServers(client, requests, server_seconds);
  const isUnknown = outside === 'others' || outside === 'less' || hasOverlap || parts.length === 0;
  const left = observed.flatMap((part) => countNote(part, requests, used.includes(part)));
  return {
    ...{ requests, client_seconds: client.mean, server_seconds },
    parts: isUnknown
      ? null
      : [
          ...parts,
          ...(rest > NOTHING ? [{ part: 'not_attributed' as const, seconds: rest, families: [] }] : []),
          ...(outside === null ? [] : [{ part: 'outside' as const, seconds: outside, families: [] }]),
        ],
    notes:
      outside === 'others'
        ? [`${bothCounts(client, requests)}: they are no parts of it`]
        : hasOverlap
          ? [overlapText(parts, server_seconds)]
          : outside === 'less'
            ? [
                `the servers’ mean, ${quantity(server_seconds, 'seconds')}, exceeds the client’s, ${quantity(client.mean, 'seconds')}`,
              ]
            : [...clientNote(client, requests), ...left],
  };
}

/** How often a part is observed in a request. */
const timesOf = ({ count, per }: ObservedPart, requests: number): number =>
  per === 'request' ? 1 : Math.max(1, Math.round(count / requests));

const isNear = (count: number, expected: number): boolean => Math.abs(count - expected) <= NEARLY * expected;

/** Null: not known. `others`: the means are of other requests. `less`: the client's mean is the shorter one. */
function outsideServers(
  { count, mean }: ClientMean,
  requests: number,
  server_seconds: number,
): number | null | 'others' | 'less' {
  // Each request was at several servers, or those of other clients are most of them.
  if (count !== null && requests >= 2 * count) return 'others';
  if (mean === null || count === null || !isNear(count, requests)) return null;
  return mean < server_seconds ? 'less' : mean - server_seconds;
}

function clientNote(client: ClientMean, requests: number): string[] {
  if (client.count === requests) return [];
  const isUsed = client.count !== null && isNear(client.count, requests);
  return [
    `${bothCounts(client, requests)}: ${isUsed ? 'the sum is not exact' : 'the time outside the servers is not known'}`,
  ];
}

function countNote(part: ObservedPart, requests: number, isUsed: boolean): string[] {
  const { families, count } = part;
  if (count === timesOf(part, requests) * requests) return [];
  const counts = `${families.join(', ')} has ${things(count, 'observations')} of ${things(requests, 'requests')}`;
  return [isUsed ? `${counts}: the sum is not exact` : `left out: ${counts}`];
}

function bothCounts({ count }: ClientMean, requests: number): string {
  const ofClient = count === null ? 'an unknown number' : significant(count);
  return `the servers’ means are of ${things(requests, 'requests')}, the client’s is of ${ofClient}`;
}

function overlapText(parts: readonly FirstTokenPart[], server_seconds: number): string {
  const longest = [...parts].sort((a, b) => b.seconds - a.seconds).slice(0, 2);
  const texts = longest.map(({ part, seconds }) => `${FIRST_TOKEN_PARTS[part]} ${quantity(seconds, 'seconds')}`);
  const isApart = parts.some(({ part }) => part === 'first_decode');
  const why = isApart ? ', as where the prefill and the decode worker are called at once' : '';
  return `parts overlap${why}: ${texts.join(', ')}, of ${quantity(server_seconds, 'seconds')} in the servers`;
}
