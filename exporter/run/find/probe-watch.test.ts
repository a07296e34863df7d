import { describe, expect, test } from '@jest/globals';
import type { RequestRecord } from '../../../core/run/record.ts';
import { seededRandom } from '../../../core/stats/seeded-random.ts';
import { objectiveTest } from './objective-test.ts';
import { probeSize, ProbeWatch, type ProbeDecision } from './probe-watch.ts';

const TTFT = objectiveTest(
  { measure: 'time_to_first_token', stat: 'p95', comparison: '<', limit: 0.5, unit: 'seconds' },
  [],
);
const SECOND = 1e9;

interface Sent {
  readonly sent: number;
  readonly ttft: number;
  readonly end: number;
}

/** Shows requests with times in seconds to a watch, in the order of the events, until it decides. */
function watched(requests: readonly Sent[], concurrency: number | null): { decision: ProbeDecision; seen: number } {
  let isOver = false;
  const watch = new ProbeWatch({
    tests: [TTFT],
    size: probeSize([TTFT], concurrency ?? 0, null),
    isConfirming: false,
    concurrency,
    decided: () => (isOver = true),
  });
  watch.phaseStarted('measure', 0);
  const events = requests.flatMap((request) => [
    { at: request.sent, show: () => watch.requestSent('measure', request.sent * SECOND, request.sent * SECOND) },
    ...(request.end === Infinity ? [] : [{ at: request.end, show: () => watch.requestEnded(record(request)) }]),
  ]);
  let seen = 0;
  for (const { show } of events.sort((a, b) => a.at - b.at)) {
    if (isOver) break;
    show();
    seen++;
  }
  return { decision: watch.result(), seen };
}

const record = ({ sent, ttft, end }: Sent): RequestRecord =>
  ({
    phase: 'measure',
    outcome: 'ok',
    due_ns: sent * SECOND,
    sent_ns: sent * SECOND,
    first_content_ns: (sent + ttft) * SECOND,
    last_content_ns: end * SECOND,
    end_ns: end * SECOND,
    chunk_offsets_ns: [],
  }) as unknown as RequestRecord;

/** Arrivals at 10 per second, each of which takes a second. */
const openLoad = (count: number, ttftAt: (i: number) => number): Sent[] =>
  Array.from({ length: count }, (_, i) => {
    const sent = i / 10;
    return { sent, ttft: ttftAt(i), end: sent + 1 + ttftAt(i) };
  });

describe('an open-loop load', () => {
  test('that keeps its objective holds when it has lasted eight latencies, not before', () => {
    const random = seededRandom('steady');
    const { decision, seen } = watched(
      openLoad(2000, () => 0.05 + random() * 0.01),
      null,
    );
    expect(decision).toMatchObject({ verdict: 'holds', by: 'objectives' });
    // 3 latencies to settle and 8 of them: about 12 s of 10 requests with two events each.
    expect(seen).toBeGreaterThan(2 * 110);
    expect(seen).toBeLessThan(2 * 300);
  });

  test('that a server does not keep up with is stopped before the objective fails', () => {
    // The server takes 2 % longer than the gap between two arrivals: the wait grows by 0.02 s per second.
    const { decision } = watched(
      openLoad(2000, (i) => 0.05 + i * 0.002),
      null,
    );
    expect(decision).toMatchObject({ verdict: 'fails', by: 'growing' });
    expect(decision.growth).toMatchObject({ quantity: 'requests in flight' });
    expect(decision.judgments[0]?.value).toBeLessThan(0.5);
  });

  test('whose noise only looks like growth for a moment is not stopped', () => {
    for (let seed = 0; seed < 20; seed++) {
      const random = seededRandom(seed);
      const { decision } = watched(
        openLoad(1500, () => 0.05 + random() * 0.2),
        null,
      );
      expect(decision.verdict).toBe('holds');
    }
  });
});

describe('a closed load', () => {
  test('the first request of each slot is not judged', () => {
    // 8 slots; the first requests take 2 s to their first token.
    const slots = Array.from({ length: 8 }, (_, slot) =>
      Array.from({ length: 200 }, (_, i) => {
        const sent = i === 0 ? slot * 0.001 : 3 + (i - 1) * 1 + slot * 0.001;
        return { sent, ttft: i === 0 ? 2 : 0.05 + ((i * 7 + slot) % 5) * 0.001, end: i === 0 ? 3 : sent + 1 };
      }),
    ).flat();
    const { decision } = watched(slots, 8);
    expect(decision.verdict).toBe('holds');
    expect(decision.judgments[0]?.beyond).toBe(0);
  });

  test('slow requests that have not ended keep the fast ones after them from being judged', () => {
    // One slot of four waits without an end; the others go on.
    const fast = Array.from({ length: 3 }, (_, slot) =>
      Array.from({ length: 60 }, (_, i) => ({ sent: 1 + i + slot * 0.01, ttft: 0.05, end: 1.9 + i + slot * 0.01 })),
    ).flat();
    const { decision } = watched([{ sent: 1.005, ttft: 59, end: Infinity }, ...fast], 4);
    expect(decision.judgments[0]?.n).toBe(0);
    expect(decision.verdict).toBe('undecided');
  });
});

test('an objective that no longer can hold is decided within a few requests', () => {
  const random = seededRandom('slow');
  const { decision, seen } = watched(
    Array.from({ length: 500 }, (_, i) => ({ sent: i, ttft: 0.6 + random() * 0.1, end: i + 0.9 })),
    1,
  );
  expect(decision).toMatchObject({ verdict: 'fails', by: 'objectives' });
  expect(seen).toBeLessThan(2 * 32);
});
