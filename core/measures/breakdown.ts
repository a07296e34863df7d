import { OTHER_MODELS } from '../run/run.ts';
import type { RequestRecord } from '../run/record.ts';
import type { BreakdownKey } from '../run/result.ts';

/** Classes of later turns by number, so that their count does not grow with the conversations. */
const LAST_OF_CLASS = [2, 4, 8, 16, 32] as const;

const key = (value: string): BreakdownKey => ({ by: 'turn', value });

const FIRST: readonly BreakdownKey[] = [key('first')];
const LATER = key('later');

/** The two classes of turns, however long the conversations: those by number would only be the same once more. */
export const TURN_KEYS: readonly BreakdownKey[] = [...FIRST, LATER];

/** Whether a population is judged and published; the others are in result.json only. */
export const isPublished = ({ by, value }: BreakdownKey): boolean =>
  by !== 'turn' || TURN_KEYS.some((turn) => turn.value === value);

const CLASSES: readonly (readonly BreakdownKey[])[] = [...LAST_OF_CLASS, Infinity].map((last, i) => {
  const from = (LAST_OF_CLASS[i - 1] ?? 1) + 1;
  return [LATER, key(last === Infinity ? `${from}+` : last === from ? `${last}` : `${from}-${last}`)];
});
const NONE: readonly BreakdownKey[] = [];

/**
 * The populations beside the whole run to which a request belongs: of conversations the first turns, the later ones, and
 * classes of those by number (2, 3-4, 5-8, 9-16, 17-32, 33+); of several models its own. `models`: those that are
 * distinguished; absent: the run has one.
 */
export function breakdownsOf(
  { turn, model }: Pick<RequestRecord, 'turn' | 'model'>,
  models: readonly string[] = [],
): readonly BreakdownKey[] {
  if (model == null || models.length === 0) return turnsOf(turn);
  return [...turnsOf(turn), modelKey(models.includes(model) ? model : OTHER_MODELS)];
}

/** The requests to one model. */
export const modelKey = (value: string): BreakdownKey => ({ by: 'model', value });

function turnsOf(turn: RequestRecord['turn']): readonly BreakdownKey[] {
  if (turn == null) return NONE;
  if (turn === 1) return FIRST;
  const at = LAST_OF_CLASS.findIndex((last) => turn <= last);
  return CLASSES.at(at) ?? NONE;
}

/** The place of a population of turns among the others; models keep their order, before these. */
export function breakdownOrder({ value }: BreakdownKey): number {
  return [...FIRST, LATER, ...CLASSES.flatMap((both) => both.slice(1))].findIndex((each) => each.value === value);
}

/** What is reported of each population: what a user waits for, what was sent and answered, and what caches saved. */
export const BREAKDOWN_MEASURES: ReadonlySet<string> = new Set([
  'time_to_first_token',
  'time_to_first_output_token',
  'inter_token_latency',
  'inter_chunk_latency',
  'request_latency',
  'schedule_delay',
  'input_sequence_length',
  'output_sequence_length',
  'cached_input_tokens',
  'think_time',
  'tool_time',
  'start_deviation',
  'cached_input_ratio',
  'error_ratio',
]);

/** The same of each model, with what it had of the throughput and whether its requests were good. */
export const MODEL_MEASURES: ReadonlySet<string> = new Set([
  ...BREAKDOWN_MEASURES,
  'request_throughput',
  'output_token_throughput',
  'document_throughput',
  'good_request_ratio',
]);
