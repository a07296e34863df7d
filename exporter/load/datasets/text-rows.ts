import type { InputRow } from './row.ts';

/** A prompt of a file, with its other fields. */
export interface TextRow {
  readonly text: string;
  /** `max_tokens`; null: the run's setting. */
  readonly outputTokens: number | null;
  /** When it is due, in milliseconds since the start of the trace; null: it has no time. */
  readonly timestamp_ms: number | null;
}

/**
 * A row of AIPerf's `single_turn` and `random_pool`: `text` (or `texts` with one), `output_length`, `timestamp`. Throws a
 * `ConfigurationError` of the row.
 */
export function textRow(row: InputRow): TextRow {
  row.onlyText();
  return {
    text: textOf(row),
    outputTokens: row.tokens('output_length') ?? row.tokens('max_tokens'),
    timestamp_ms: row.milliseconds('timestamp'),
  };
}

export function textOf(row: InputRow): string {
  const text = row.string('text') ?? row.string('prompt');
  if (text !== null) return text;
  const { texts } = row.json;
  if (texts === undefined) row.refuse('text is missing');
  if (!Array.isArray(texts) || texts.length !== 1 || typeof texts[0] !== 'string' || texts[0] === '')
    row.refuse('texts must be a list of one string: several texts per request are not supported');
  return (texts as string[])[0] ?? '';
}

/** Times of all rows in seconds; undefined when no row has one. Throws when only some have one. */
export function dueTimes_ns(
  rows: readonly { readonly row: InputRow; readonly timestamp_ms: number | null }[],
): Float64Array | undefined {
  if (rows.every(({ timestamp_ms }) => timestamp_ms === null)) return undefined;
  return Float64Array.from(rows, ({ row, timestamp_ms }) =>
    timestamp_ms === null
      ? row.refuse('timestamp is missing, although other rows have one')
      : Math.round((timestamp_ms / 1000) * 1e9),
  );
}
