import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { MeasuredRecord } from '../../../core/run/record.ts';
import { ContentRecognizer } from './content-recognizer.ts';
import { chat } from '../endpoints/openai.ts';
import { EventQueue } from './response-reader.ts';
import { StreamReader } from './stream.ts';
import { delta, reasoning, sse, usage } from '../testing/scripted-server.ts';

/** Sends every event through the parser. */
class NothingIsRecognized extends ContentRecognizer {
  override recognize(): null {
    return null;
  }
}

interface Piece {
  readonly event: string;
  /** Whether the loop becomes idle after it, so that queued events are parsed. */
  readonly idle: boolean;
}

interface Read {
  readonly record: MeasuredRecord;
  readonly calls: readonly string[];
}

async function read(pieces: readonly Piece[], recognizer: ContentRecognizer): Promise<Read> {
  const calls: string[] = [];
  const listener = {
    firstContent: (_phase: string, sent: number, due: number): unknown => calls.push(`first ${sent} ${due}`),
    chunkGap: (_phase: string, gap: number): unknown => calls.push(`gap ${gap}`),
  };
  const context = { endpoint: chat, recognizer, queue: new EventQueue(), listener, epoch_ns: 1000, secrets: [] };
  const sent = { index: 0, phase: 'measure', due_ns: 5, sent_ns: 10, requested_output_tokens: 1 } as const;
  let closed: MeasuredRecord | null = null;
  const reader = new StreamReader(sent, context, ({ record }) => (closed = record));
  reader.head(200, {}, { reused: false, connect_ns: 1, retried: false });
  let stamp = 2000;
  for (const { event, idle } of pieces) {
    hand(reader, (stamp += 100), event);
    if (idle) await new Promise((resolve) => setImmediate(resolve));
  }
  reader.end(stamp + 1);
  while (closed === null) await new Promise((resolve) => setImmediate(resolve));
  return { record: closed, calls };
}

const event = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom(' token', '"', 'é', '\n').map((text) => sse(delta(text))) },
  { weight: 3, arbitrary: fc.constantFrom(' so', '"', 'é').map((text) => sse(reasoning(text))) },
  { weight: 1, arbitrary: fc.constantFrom(sse(delta('')), sse(delta('x', 'stop')), sse(delta('', 'length'))) },
  { weight: 1, arbitrary: fc.constantFrom(sse(usage(3, 4)), sse(usage(3, 5)), sse('[DONE]'), ': ping\n\n') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(sse({ error: 'no' }), sse('{'), sse({ choices: [{ delta: { content: 'y' } }] })),
  },
  { weight: 1, arbitrary: fc.constantFrom(sse(delta('a')) + sse(delta('b')), 'data: {"choices":') },
);
const pieces = fc.array(fc.record({ event, idle: fc.boolean() }), { maxLength: 25 });

test('a recognized stream and a fully parsed one give the same record and calls', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, async (stream) => {
      const recognized = await read(stream, new ContentRecognizer(chat.variableKeys));
      expect(recognized).toEqual(await read(stream, new NothingIsRecognized(chat.variableKeys)));
    }),
    { numRuns: 300 },
  );
});

test('an event parsed late keeps the time at which it arrived', async () => {
  const stream = [' a', ' b', ' c'].map((text) => ({ event: sse(delta(text)), idle: false }));
  const { record, calls } = await read(
    [...stream, { event: sse(delta('', 'stop')), idle: false }],
    new ContentRecognizer(chat.variableKeys),
  );
  // Sent at 1010 on the clock; the pieces came at 2100, 2200 and 2300.
  expect(record).toMatchObject({ chunk_offsets_ns: [1090, 1190, 1290], first_content_ns: 1100, end_ns: 1401 });
  expect(calls).toEqual(['first 1090 1095', 'gap 100', 'gap 100']);
});

test('recognized content is reported immediately', async () => {
  const recognizer = new ContentRecognizer(chat.variableKeys);
  const known = Buffer.from(JSON.stringify(delta(' x')));
  recognizer.learn(known, 0, known.length, 'output');
  const queue = new EventQueue();
  let reported = 0;
  const listener = { firstContent: () => reported++, chunkGap: () => reported++ };
  const context = { endpoint: chat, recognizer, queue, listener, epoch_ns: 0, secrets: [] };
  const sent = { index: 0, phase: 'measure', due_ns: 0, sent_ns: 0, requested_output_tokens: 1 } as const;
  const reader = new StreamReader(sent, context, () => undefined);
  reader.head(200, {}, { reused: false, connect_ns: 1, retried: false });
  hand(reader, 1, sse(delta(' y')) + sse(delta(' z')));
  expect([reported, queue.length]).toEqual([2, 0]);
});

/** As a transport does: in the middle of a buffer that is used again. */
function hand(reader: StreamReader, stamp_ns: number, text: string): void {
  const bytes = Buffer.from(`xx${text}yy`);
  reader.data(stamp_ns, bytes, 2, bytes.length - 2);
  bytes.fill('z');
}
