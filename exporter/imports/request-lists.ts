import type { Fields } from './fields.ts';
import type { ImportNotes } from './import-notes.ts';

/** What the parallel lists of a result tell of one request; times in seconds. */
export interface ListedRequest {
  /** Its place in the lists. */
  readonly index: number;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** From the sending to the first chunk that the tool counts; null when there was none. */
  readonly first_s: number | null;
  /** Between the chunks that the tool counts. */
  readonly gaps_s: readonly number[];
  /** From the sending to the last chunk; null when the file does not tell. */
  readonly latency_s: number | null;
  /** On a clock of the tool's own, which only differences of are of use; null when the file does not tell. */
  readonly sent_s: number | null;
  /** How long it waited on the side of the tool before it was sent; null when the file does not tell. */
  readonly queued_s: number | null;
  /** What the tool kept of its failure; null when it is ok. */
  readonly error: string | null;
}

const LISTS = [
  'input_lens',
  'output_lens',
  'ttfts',
  'itls',
  'latencies',
  'start_times',
  'queue_times',
  'errors',
] as const;
type ListName = (typeof LISTS)[number];

/** Read and never kept. */
const TEXTS = ['generated_texts'] as const;

/**
 * The requests of a result of `vllm bench serve` or SGLang's `bench_serving`, in the order in which they were due; null when
 * it has no lists, or their lengths differ, which is noted. A request with a value that cannot be true is left out and
 * counted.
 */
export function listedRequests(fields: Fields, notes: ImportNotes): readonly ListedRequest[] | null {
  fields.ignore(...TEXTS);
  const lists = new Map(LISTS.flatMap((name) => asEntry(name, fields.list(name))));
  if (!lists.has('ttfts') || !lists.has('itls')) return null;
  const lengths = new Set([...lists.values()].map((list) => list.length));
  if (lengths.size > 1) {
    const told = [...lists].map(([name, list]) => `${name} ${list.length}`).join(', ');
    notes.disagreement(`the lists of the requests are not of one length (${told}): only the summary is used`);
    return null;
  }
  const [length = 0] = lengths;
  const requests = Array.from({ length }, (_, index) => listedRequest(lists, index));
  return requests.filter((request, index) => {
    if (request === null) notes.count('requests left out: a time or a count that cannot be true', `request ${index}`);
    return request !== null;
  });
}

function asEntry(name: ListName, list: readonly unknown[] | null): [ListName, readonly unknown[]][] {
  return list === null ? [] : [[name, list]];
}

function listedRequest(lists: ReadonlyMap<ListName, readonly unknown[]>, index: number): ListedRequest | null {
  const at = (name: ListName): unknown => lists.get(name)?.[index];
  const first = at('ttfts');
  const gaps = at('itls');
  const numbers = ['input_lens', 'output_lens', 'latencies', 'start_times', 'queue_times'] as const;
  if (!isAmount(first) || !Array.isArray(gaps) || !gaps.every(isAmount)) return null;
  if (!numbers.every((name) => !lists.has(name) || isAmount(at(name)))) return null;
  const number = (name: ListName): number | null => (lists.has(name) ? Number(at(name)) : null);
  const output_tokens = number('output_lens');
  const kept = at('errors');
  const error = typeof kept === 'string' ? kept : '';
  // A refusal without a reason phrase leaves no error: only that nothing came tells it.
  const failed = error !== '' || (first === 0 && (output_tokens ?? 0) === 0);
  return {
    index,
    input_tokens: number('input_lens'),
    output_tokens: failed ? null : output_tokens,
    first_s: first === 0 && gaps.length === 0 ? null : first,
    gaps_s: gaps,
    latency_s: number('latencies'),
    sent_s: number('start_times'),
    queued_s: number('queue_times'),
    error: failed ? error : null,
  };
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** When the chunks came, in seconds since the request was sent. */
export function chunkTimes_s({ first_s, gaps_s }: Pick<ListedRequest, 'first_s' | 'gaps_s'>): number[] {
  if (first_s === null) return [];
  const times = [first_s];
  let at = first_s;
  for (const gap of gaps_s) {
    at += gap;
    times.push(at);
  }
  return times;
}
