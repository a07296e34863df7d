import { expect, test } from '@jest/globals';
import { responses } from '../endpoints/responses.ts';
import { answeredBy, GENEROUS } from '../testing/one-request.ts';
import {
  delta,
  GOOD_STREAM,
  httpChunk,
  LAST_CHUNK,
  reasoning,
  sse,
  STREAM_HEAD,
  streamOf,
  usage,
} from '../testing/scripted-server.ts';

const END = [sse(delta('', 'stop')), sse(usage(7, 4)), sse('[DONE]')];

test('the first output token comes after the reasoning', async () => {
  const pieces = [reasoning('let'), reasoning(' me think'), delta('Yes'), delta(' indeed')].map(sse);
  const { closed } = await answeredBy(async (socket) => {
    socket.write(STREAM_HEAD);
    for (const piece of [...pieces, ...END]) {
      socket.write(httpChunk(piece));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    socket.write(LAST_CHUNK);
  });
  const { first_content_ns, first_output_ns, sent_ns, chunk_offsets_ns } = closed.record;
  expect(chunk_offsets_ns).toHaveLength(4);
  expect(first_content_ns).toBe(sent_ns + (chunk_offsets_ns[0] ?? NaN));
  expect(first_output_ns).toBe(sent_ns + (chunk_offsets_ns[2] ?? NaN));
});

test('without reasoning it is the first token', async () => {
  const { record } = (await answeredBy((socket) => socket.write(streamOf(GOOD_STREAM)))).closed;
  expect(record.first_output_ns).not.toBeNull();
  expect(record.first_output_ns).toBe(record.first_content_ns);
});

test('an answer that only reasoned has none', async () => {
  const stream = streamOf([sse(reasoning('hm')), sse(reasoning(' so')), ...END]);
  const { record } = (await answeredBy((socket) => socket.write(stream))).closed;
  expect(record).toMatchObject({ outcome: 'ok', first_output_ns: null });
  expect(record.first_content_ns).not.toBeNull();
});

test('a call of a tool is output', async () => {
  const call = {
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name: 'f', arguments: '' } }] } }],
  };
  const stream = streamOf([sse(reasoning('hm')), sse(call), ...END]);
  const { record } = (await answeredBy((socket) => socket.write(stream))).closed;
  expect(record.first_output_ns).toBe(record.sent_ns + (record.chunk_offsets_ns[1] ?? NaN));
});

test('responses: reasoning deltas come before output deltas', async () => {
  const event = (type: string, more: object): string => sse({ type, ...more });
  const stream = streamOf([
    event('response.reasoning_text.delta', { delta: 'hm' }),
    event('response.output_text.delta', { delta: 'Yes' }),
    event('response.completed', { response: { status: 'completed', output: [], usage: null } }),
  ]);
  const { record } = (await answeredBy((socket) => socket.write(stream), GENEROUS, [], { endpoint: responses })).closed;
  expect(record.chunk_offsets_ns).toHaveLength(2);
  expect(record.first_output_ns).toBe(record.sent_ns + (record.chunk_offsets_ns[1] ?? NaN));
});
