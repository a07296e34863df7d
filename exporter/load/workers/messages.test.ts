import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NOT_COUNTED, NOT_TRACED, type PhaseName, type RequestRecord } from '../../../core/run/record.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import { EventLog, EventReplay, type EventBatch } from './messages.ts';

const phase = fc.constantFrom<PhaseName>('warmup', 'measure');
const ns = fc.nat();

function record(index: number, of: PhaseName): RequestRecord {
  return {
    index,
    phase: of,
    due_ns: 0,
    sent_ns: 1,
    first_content_ns: null,
    first_output_ns: null,
    last_content_ns: null,
    end_ns: 2,
    connection_reused: null,
    connect_ns: null,
    connection_retried: null,
    outcome: 'error',
    reason: 'reset',
    http_status: null,
    input_tokens: null,
    input_tokens_source: null,
    output_tokens: null,
    output_tokens_source: null,
    reasoning_tokens: null,
    cached_tokens: null,
    requested_output_tokens: 1,
    chunk_offsets_ns: [],
    ...NOT_TRACED,
    ...NOT_COUNTED,
  };
}

type Reported = readonly [call: string, ...values: unknown[]];

/** Notes every call with its values. */
function noting(into: Reported[]): RunEvents {
  return {
    requestSent: (...values) => into.push(['sent', ...values]),
    firstContent: (...values) => into.push(['first', ...values]),
    chunkGap: (...values) => into.push(['gap', ...values]),
    requestEnded: (ended) => into.push(['ended', ended]),
    eventLoopDelay: (delay_ns) => into.push(['delay', delay_ns]),
  };
}

const event: fc.Arbitrary<(observer: RunEvents) => void> = fc.oneof(
  fc.tuple(phase, ns, ns).map(
    ([p, a, b]) =>
      (observer: RunEvents) =>
        observer.requestSent?.(p, a, b),
  ),
  fc.tuple(phase, ns, ns).map(
    ([p, a, b]) =>
      (observer: RunEvents) =>
        observer.firstContent?.(p, a, b),
  ),
  fc.tuple(phase, ns).map(
    ([p, gap]) =>
      (observer: RunEvents) =>
        observer.chunkGap?.(p, gap),
  ),
  fc.tuple(ns, phase).map(
    ([index, p]) =>
      (observer: RunEvents) =>
        observer.requestEnded?.(record(index, p)),
  ),
  ns.map((delay) => (observer: RunEvents) => observer.eventLoopDelay?.(delay)),
);

describe('EventLog', () => {
  test('events are replayed in order, wherever the log was split', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(event, fc.boolean())), (events) => {
        const direct: Reported[] = [];
        const replayed: Reported[] = [];
        const log = new EventLog(() => undefined);
        const replay = new EventReplay([noting(replayed)]);
        const takeAll = (): void => {
          const batch = log.take();
          if (batch !== null) replay.replay(structuredClone(batch));
        };
        for (const [tell, isTaken] of events) {
          tell(noting(direct));
          tell(log);
          if (isTaken) takeAll();
        }
        takeAll();
        expect(replayed).toEqual(direct);
      }),
    );
  });

  test('a full log is delivered before an event could be lost', () => {
    const batches: EventBatch[] = [];
    const log: EventLog = new EventLog(() => {
      const batch = log.take();
      if (batch !== null) batches.push(batch);
    });
    const GAPS = 50_000;
    for (let gap = 0; gap < GAPS; gap++) log.chunkGap('measure', gap);
    const rest = log.take();
    if (rest !== null) batches.push(rest);
    const replayed: Reported[] = [];
    const replay = new EventReplay([{}, noting(replayed)]);
    for (const batch of batches) replay.replay(batch);
    expect(replayed).toEqual(Array.from({ length: GAPS }, (_, gap) => ['gap', 'measure', gap]));
    expect(log.take()).toBeNull();
  });
});
