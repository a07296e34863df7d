import { describe, expect, test } from '@jest/globals';
import { chat } from '../endpoints/openai.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { syntheticDataset } from '../datasets/synthetic-dataset.ts';
import { benchmarkRun } from '../testing/benchmark-run.ts';
import { response, GOOD_STREAM, streamOf } from '../testing/scripted-server.ts';

const broken = (): never => {
  throw new TypeError('cannot read properties of undefined');
};

/** Fails at the third response. */
function failingOnce<A, R>(each: (value: A) => R): (value: A) => R {
  let calls = 0;
  return (value) => (++calls === 3 ? broken() : each(value));
}

const dataset = syntheticDataset({ inputTokens: 5, outputTokens: 8, seed: 1 });
const form = (endpoint: Endpoint, stream: boolean) => ({
  endpoint,
  path: endpoint.path,
  headers: { 'content-type': 'application/json' },
  dataset,
  options: { model: 'm', sampling: {}, includeUsage: true, stream },
});
const WHOLE = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 8 },
});

describe('an error of this program while it reads one response fails that request, and the run continues', () => {
  test('in the interpretation of a stream', async () => {
    const endpoint = { ...chat, interpret: failingOnce((event: unknown) => chat.interpret(event)) };
    const { outcome, recorder } = await benchmarkRun({ form: form(endpoint, true) }, (socket) =>
      socket.write(streamOf(GOOD_STREAM)),
    );
    expect(recorder.records.map(({ outcome: one, reason }) => [one, reason]).sort()).toEqual([
      ['error', 'other'],
      ...Array.from({ length: 19 }, () => ['ok', null]),
    ]);
    expect(JSON.stringify(outcome)).toContain(
      'llmbench failed to read the response, please report it: TypeError: cannot',
    );
  });

  test('in the interpretation of a complete response', async () => {
    const endpoint = { ...chat, interpretWhole: failingOnce((answered: unknown) => chat.interpretWhole(answered)) };
    const { recorder } = await benchmarkRun({ form: form(endpoint, false) }, (socket) =>
      socket.write(response('200 OK', 'application/json', WHOLE)),
    );
    expect(recorder.records.map(({ reason }) => reason ?? 'none').sort()).toEqual([
      ...Array.from({ length: 19 }, () => 'none'),
      'other',
    ]);
  });

  test('in the count of its tokens', async () => {
    const usual = form(chat, true);
    const noUsage = GOOD_STREAM.filter((event) => !JSON.stringify(event).includes('usage'));
    const countTokens = failingOnce((text: string) => text.length);
    const { recorder } = await benchmarkRun({ form: { ...usual, countTokens } }, (socket) =>
      socket.write(streamOf(noUsage)),
    );
    const reasons = recorder.records.map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === 'other')).toHaveLength(1);
    expect(reasons.filter((reason) => reason === null)).toHaveLength(19);
  });
});
