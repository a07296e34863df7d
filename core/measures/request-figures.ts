import type { RequestRecord } from '../run/record.ts';

/**
 * The numbers of one request from which its measures come: its record without the list of chunks, so that a run can keep
 * them for every request. Times are ns since the run's start; null is what is not known.
 */
export interface RequestFigures extends Pick<
  RequestRecord,
  | 'due_ns'
  | 'sent_ns'
  | 'first_content_ns'
  | 'last_content_ns'
  | 'end_ns'
  | 'connect_ns'
  | 'input_tokens'
  | 'output_tokens'
  | 'reasoning_tokens'
> {
  /** Arrival of the second chunk with content. */
  readonly second_content_ns: number | null;
  /** How many chunks had content. */
  readonly content_chunks: number;
}

/** The figures of a record. */
export function figuresOf(record: RequestRecord): RequestFigures {
  const second = record.chunk_offsets_ns[1];
  return {
    due_ns: record.due_ns,
    sent_ns: record.sent_ns,
    first_content_ns: record.first_content_ns,
    second_content_ns: second === undefined ? null : record.sent_ns + second,
    last_content_ns: record.last_content_ns,
    end_ns: record.end_ns,
    connect_ns: record.connect_ns,
    input_tokens: record.input_tokens,
    output_tokens: record.output_tokens,
    reasoning_tokens: record.reasoning_tokens,
    content_chunks: record.chunk_offsets_ns.length,
  };
}
