import { describe, expect, test } from '@jest/globals';
import type { MeasuredRecord } from '../../../core/run/record.ts';
import { requestRecord } from '../responses/request-record.ts';
import { RunRemarks } from './run-remarks.ts';

const offsets = (n: number, gap_ns: number): number[] => Array.from({ length: n }, (_, i) => 5e8 + i * gap_ns);

function record(
  output_tokens: number | null,
  offsets_ns: readonly number[],
  changes: Partial<MeasuredRecord> = {},
): MeasuredRecord {
  const sent = { index: 0, phase: 'measure', due_ns: 0, sent_ns: 0, requested_output_tokens: 100 } as const;
  const usage = { input_tokens: 1, output_tokens, reasoning_tokens: null, cached_tokens: null };
  const read = { end_ns: 1e9, reason: null, status: 200, connection: null, wholeResponseOffset_ns: null };
  const firstOutputChunk = offsets_ns.length > 0 ? 0 : null;
  const response = { ...read, usage, counted_output_tokens: null, offsets_ns, firstOutputChunk };
  return { ...requestRecord(sent, response), ...changes };
}

function linesOf(...records: readonly MeasuredRecord[]): readonly string[] {
  const remarks = new RunRemarks();
  for (const one of records) remarks.requestEnded(one);
  return remarks.lines();
}

describe('remarks on the responses of a run', () => {
  test('no remark when the responses are as requested', () => {
    expect(linesOf(record(100, offsets(100, 1e7)), record(96, offsets(90, 1e7)))).toEqual([]);
    expect(linesOf()).toEqual([]);
  });

  test('an achieved length more than 5 % off names --ignore-eos and min_tokens', () => {
    const [line] = linesOf(record(100, offsets(90, 1e7)), record(88, offsets(80, 1e7)));
    expect(line).toMatch(/^output length: 94 % of the requested tokens\. .*--ignore-eos .*min_tokens/);
    expect(linesOf(record(106, offsets(100, 1e7)))[0]).toMatch(/^output length: 106 %/);
    expect(linesOf(record(95, offsets(90, 1e7)))).toEqual([]);
  });

  describe('on the length of the prompts', () => {
    const inputs = (tokens: readonly (number | null)[], stddev = 0, hasTokenizer = false): readonly string[] => {
      const remarks = new RunRemarks(true, { tokens: { mean: 512, stddev }, hasTokenizer });
      for (const input_tokens of tokens)
        remarks.requestEnded(record(100, offsets(100, 1e7), { input_tokens, input_tokens_source: 'usage' }));
      return remarks.lines();
    };

    test('more than 10 % off is named, with the remedy', () => {
      expect(inputs([1388, 1388])).toEqual([
        'input length: the server counted 1388 tokens per request instead of 512 (271 %). Without --tokenizer each word ' +
          'counts as one token; --tokenizer with that of the model makes lengths exact',
      ]);
      expect(inputs([7])[0]).toMatch(/^input length: .* \(1 %\)\. A word is at least one token: the server truncates/);
      expect(inputs([440], 0, true)[0]).toMatch(/^input length: .* \(86 %\)\. The tokenizer is not that of the model/);
    });

    test('up to 10 %, a chat template and unknown counts are not', () => {
      expect(inputs([563, 461, null])).toEqual([]);
      const short = new RunRemarks(true, { tokens: { mean: 16, stddev: 0 }, hasTokenizer: true });
      short.requestEnded(record(100, offsets(100, 1e7), { input_tokens: 30, input_tokens_source: 'usage' }));
      expect(short.lines()).toEqual([]);
    });

    test('a mean of few random lengths may be off by chance', () => {
      expect(inputs([700, 600], 200)).toEqual([]);
      expect(
        inputs(
          Array.from({ length: 100 }, () => 650),
          200,
        ),
      ).toHaveLength(1);
    });
  });

  test('failed requests, the warm-up and unknown counts are not judged', () => {
    expect(
      linesOf(
        record(1, offsets(1, 1), { outcome: 'error' }),
        record(1, offsets(1, 1), { phase: 'warmup' }),
        record(1, offsets(1, 1), { outcome: 'cancelled' }),
      ),
    ).toEqual([]);
  });

  test("a server whose counts are far from the tokenizer's on this side", () => {
    const checked = (counted_output_tokens: number): MeasuredRecord =>
      record(100, offsets(90, 1e7), { counted_output_tokens });
    expect(linesOf(checked(100), checked(92))).toEqual([]);
    // A chat template beside a short prompt is nothing to worry about.
    expect(linesOf(record(100, offsets(90, 1e7), { input_tokens: 20, counted_input_tokens: 16 }))).toEqual([]);
    // Where only the tokenizer counted there is nothing to compare.
    const ownCount = record(45, offsets(90, 1e7), {
      output_tokens_source: 'tokenizer',
      counted_output_tokens: 45,
      requested_output_tokens: 45,
    });
    expect(linesOf(checked(80), ownCount)).toContainEqual(expect.stringMatching(/^token counts: in 1 of 1 responses/));
    expect(linesOf(checked(100), checked(80))).toEqual([
      expect.stringMatching(/^token counts: in 1 of 2 responses the server's usage differs by more than 10 %/),
    ]);
  });

  test('where token counts come from, unless it is the server', () => {
    const own = record(100, offsets(90, 1e7));
    expect(linesOf(own, record(null, offsets(10, 1e7)))).toEqual([
      expect.stringMatching(/^token counts: the server reported none for 1 of 2 responses.*--tokenizer counts them/),
    ]);
    expect(linesOf(own, { ...own, output_tokens_source: 'tokenizer' })).toEqual([
      expect.stringMatching(
        /^token counts: the server reported none for 1 of 2 responses; the tokenizer of the client counted/,
      ),
    ]);
    const embeddings = new RunRemarks(false);
    embeddings.requestEnded(record(null, []));
    expect(embeddings.lines()).toEqual([]);
  });

  test('chunks that all came at once', () => {
    const held = record(100, offsets(100, 0));
    const live = record(100, offsets(100, 1e7));
    expect(linesOf(held, live)).toEqual([
      expect.stringMatching(/^buffering: in 1 of 2 responses all chunks arrived at once/),
    ]);
    // One in 20 is not worth a line, nor are three chunks together.
    expect(linesOf(held, ...Array.from({ length: 19 }, () => live))).toEqual([]);
    expect(linesOf(record(100, offsets(30, 1e7)), record(100, offsets(3, 0)))).toEqual([]);
  });

  test('usage that disagrees with what came', () => {
    expect(linesOf(record(100, offsets(3, 1e7)))).toEqual([
      expect.stringMatching(/^token counts: usage counts 33\.3 output tokens per chunk/),
    ]);
  });

  test('a count of the server that cannot be true is not one that it did not report', () => {
    const remarks = new RunRemarks();
    const unknown = { ...record(100, offsets(20, 1e7)), output_tokens: null, output_tokens_source: null };
    for (let i = 0; i < 3; i++) remarks.requestEnded(unknown);
    expect(remarks.lines(3)).toEqual([]);
    expect(remarks.lines(2)).toEqual([expect.stringMatching(/^token counts: the server reported none for 1 of 3/)]);
  });

  test('an answer that is not a stream has no chunks to judge', () => {
    expect(linesOf(record(100, []))).toEqual([]);
  });
});
