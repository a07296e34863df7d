import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { outcomeOf } from '../../../core/measures/error-reasons.ts';
import { ERROR_REASONS } from '../../../core/run/record.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import { writeAiperf } from '../../exports/write-aiperf.ts';
import { requestRecord, runFile } from '../../publish/fixtures/run.ts';
import { ImportNotes } from '../import-notes.ts';
import { openSource } from '../reading/source-file.ts';
import { inTemporaryFolder } from '../testing/import-folder.ts';
import { addedResult } from '../../store/fixtures/added-run.ts';
import { readAiperfRecords } from './records.ts';

const START = '2026-11-03T10:15:00.000Z';

const offsets = fc
  .array(fc.integer({ min: 0, max: 400_000_000 }), { minLength: 2, maxLength: 6 })
  .map((gaps) => gaps.reduce<number[]>((all, gap) => [...all, (all.at(-1) ?? 0) + gap], []));

/** Requests as our own client measures them, with what AIPerf's form has a place for. */
const records: fc.Arbitrary<RequestRecord[]> = fc
  .array(
    fc.record({
      due: fc.integer({ min: 0, max: 1e12 }),
      delay: fc.integer({ min: 0, max: 1e9 }),
      offsets,
      reason: fc.option(fc.constantFrom(...ERROR_REASONS), { freq: 2 }),
      tokens: fc.integer({ min: 1, max: 5000 }),
      phase: fc.constantFrom('warmup' as const, 'measure' as const),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((all) =>
    all.map(({ due, delay, offsets: chunks, reason, tokens, phase }, index) => {
      const sent_ns = due + delay;
      const last = sent_ns + (chunks.at(-1) ?? 0);
      return requestRecord({
        index,
        phase,
        due_ns: due,
        sent_ns,
        first_content_ns: sent_ns + (chunks[0] ?? 0),
        last_content_ns: last,
        end_ns: last,
        reason,
        outcome: outcomeOf(reason),
        output_tokens: tokens,
        chunk_offsets_ns: chunks,
      });
    }),
  );

/** What AIPerf's lines contain of a request: of a failed one only that it failed. */
function reported(record: RequestRecord): Partial<RequestRecord> {
  const { index, phase, due_ns, sent_ns, end_ns, outcome, reason } = record;
  if (outcome !== 'ok') return { index, phase, due_ns, sent_ns, end_ns, outcome, reason };
  const { first_content_ns, last_content_ns, input_tokens, output_tokens, chunk_offsets_ns } = record;
  const tokens = { input_tokens, output_tokens, input_tokens_source: 'usage', output_tokens_source: 'usage' } as const;
  return {
    ...reported({ ...record, outcome: 'error' }),
    outcome,
    first_content_ns,
    last_content_ns,
    ...tokens,
    chunk_offsets_ns,
  };
}

test('property: what we export in AIPerf’s form is imported as the same requests, to the nanosecond', () =>
  inTemporaryFolder((folder) =>
    fc.assert(
      fc.asyncProperty(records, async (written) => {
        const run = runFile({ start: START });
        await writeAiperf(folder, run, addedResult(run), Readable.from(written));
        const notes = new ImportNotes();
        const zero_ns = BigInt(Date.parse(START)) * 1_000_000n;
        const file = await openSource(join(folder, 'profile_export.jsonl'));
        const read: RequestRecord[] = [];
        for await (const record of readAiperfRecords(
          file,
          { zero_ns, usage: { input: true, output: true } },
          notes,
          {},
        ))
          read.push(record);
        expect(notes.lines).toEqual([]);
        expect(read).toMatchObject(written.map(reported));
      }),
      { numRuns: 30 },
    ),
  ));
