import type { RequestRecord } from '../run/record.ts';
import type { ConversationCounts, DistributionResult } from '../run/result.ts';
import { exactDistribution } from './distribution-result.ts';
import type { PerConversationMeasure, PerRequestMeasure } from './measures.ts';

const SECONDS_PER_NS = 1e-9;

const perConversation = (
  measure: string,
  definition: string,
  formula: string,
  rest: Pick<PerConversationMeasure, 'unit' | 'direction'>,
): PerConversationMeasure => ({ measure, definition, formula, clock: 'sent', value: null, ...rest });

const CONVERSATION_DURATION = perConversation(
  'conversation_duration',
  'first_sent_to_last_content_chunk',
  'last chunk with content of its last response − first request sent, per complete conversation; pauses included',
  { unit: 'seconds', direction: 'lower' },
);

const CONVERSATION_SERVING_TIME = perConversation(
  'conversation_serving_time',
  'time_with_a_request_in_flight',
  'time with at least one of its requests in flight, per complete conversation; pauses of users and tools excluded',
  { unit: 'seconds', direction: 'lower' },
);

const CONVERSATION_REQUESTS = perConversation(
  'conversation_requests',
  'requests_per_complete_conversation',
  'requests per complete conversation',
  { unit: 'requests', direction: 'none' },
);

const pause = (measure: string, field: 'think_ns' | 'tool_ns', formula: string): PerRequestMeasure => ({
  measure,
  unit: 'seconds',
  definition: `planned_${measure}`,
  formula,
  direction: 'none',
  clock: 'due',
  value: (r) => (r[field] === null ? null : r[field] * SECONDS_PER_NS),
});

/** What the plan has before a turn, and how far its times were kept. There only when a run has conversations. */
export const TURN_MEASURES: readonly PerRequestMeasure[] = [
  pause('think_time', 'think_ns', 'planned pause of the user before a turn'),
  pause('tool_time', 'tool_ns', 'planned time of tools before a turn'),
  {
    measure: 'start_deviation',
    unit: 'seconds',
    definition: 'sent_minus_recorded_start',
    formula: 'request sent − its recorded time since the start of the conversation; negative: earlier than recorded',
    direction: 'none',
    clock: 'sent',
    value: (r) => (r.planned_ns === null ? null : (r.sent_ns - r.planned_ns) * SECONDS_PER_NS),
  },
];

/** Measures with a value per conversation, of those that are complete. There only when a run has conversations. */
export const CONVERSATION_MEASURES: readonly PerConversationMeasure[] = [
  CONVERSATION_DURATION,
  CONVERSATION_SERVING_TIME,
  CONVERSATION_REQUESTS,
];

/** What is known of a conversation that is not complete. */
interface OpenConversation {
  ok: number;
  failed: boolean;
  /** Null: the plan does not report it. */
  planned: number | null;
  /** From sent to the last content, of each request. */
  readonly intervals_ns: (readonly [from: number, to: number])[];
}

/** The figures of a complete conversation. */
interface CompleteConversation {
  readonly sent_ns: number;
  readonly duration_s: number;
  readonly serving_s: number;
  readonly requests: number;
}

/** Puts the requests of a run's conversations together, as they end. Only those that are not complete are held. */
export class ConversationTally {
  readonly #open = new Map<number, OpenConversation>();
  readonly #complete: CompleteConversation[] = [];

  /** Whether the run has conversations. */
  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#complete.length === 0;
  }

  add(record: RequestRecord): void {
    const { conversation, conversation_requests: planned = null } = record;
    if (conversation == null) return;
    const open = this.#open.get(conversation) ?? { ok: 0, failed: false, planned, intervals_ns: [] };
    this.#open.set(conversation, open);
    open.failed ||= record.outcome !== 'ok';
    if (open.failed) {
      // Only that it failed is used.
      open.intervals_ns.length = 0;
      return;
    }
    open.ok += 1;
    open.intervals_ns.push([record.sent_ns, record.last_content_ns ?? record.end_ns]);
    if (open.ok !== open.planned) return;
    this.#open.delete(conversation);
    this.#complete.push(completed(open));
  }

  /** Conversations by how they ended. To be called when all records have come. */
  get counts(): ConversationCounts {
    const { complete } = this.#known();
    return { complete: complete.length, incomplete: this.#complete.length + this.#open.size - complete.length };
  }

  results(): DistributionResult[] {
    const complete = this.#known().complete.toSorted((a, b) => a.sent_ns - b.sent_ns);
    const of = (measure: PerConversationMeasure, value: (each: CompleteConversation) => number): DistributionResult =>
      exactDistribution(measure, 'ok', Float64Array.from(complete, value));
    return [
      of(CONVERSATION_DURATION, ({ duration_s }) => duration_s),
      of(CONVERSATION_SERVING_TIME, ({ serving_s }) => serving_s),
      of(CONVERSATION_REQUESTS, ({ requests }) => requests),
    ];
  }

  /** Where the plan does not report the length, a conversation whose requests are all ok counts as complete. */
  #known(): { readonly complete: readonly CompleteConversation[] } {
    const ended = [...this.#open.values()].filter(({ planned, failed }) => planned === null && !failed);
    return { complete: [...this.#complete, ...ended.map(completed)] };
  }
}

function completed({ intervals_ns, ok }: OpenConversation): CompleteConversation {
  const ordered = intervals_ns.toSorted((a, b) => a[0] - b[0]);
  const sent_ns = ordered[0]?.[0] ?? NaN;
  let until_ns = sent_ns;
  let serving_ns = 0;
  for (const [from, to] of ordered) {
    serving_ns += Math.max(0, to - Math.max(from, until_ns));
    until_ns = Math.max(until_ns, to);
  }
  return {
    sent_ns,
    duration_s: (until_ns - sent_ns) * SECONDS_PER_NS,
    serving_s: serving_ns * SECONDS_PER_NS,
    requests: ok,
  };
}
