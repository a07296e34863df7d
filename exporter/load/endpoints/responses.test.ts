import { expect, test } from '@jest/globals';
import { responses } from './responses.ts';

const EMPTY = { content: false, finishReason: null, usage: null, error: null };
const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 30,
};
const READ = { input_tokens: 10, output_tokens: 20, reasoning_tokens: 5, cached_tokens: 4 };
const OUTPUT = [
  { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'hm' }], summary: [] },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello', annotations: [] }] },
];
const event = (type: string, more: object = {}): unknown => ({ type, sequence_number: 3, ...more });
const delta = (kind: string, text: string): unknown => event(`response.${kind}.delta`, { item_id: 'm', delta: text });

test('body', () => {
  const request = { prompt: 'hi', max_tokens: 5 };
  expect(JSON.parse(responses.body(request, { model: 'm', sampling: { top_p: 1 }, includeUsage: true }))).toEqual({
    model: 'm',
    input: [{ role: 'user', content: 'hi' }],
    max_output_tokens: 5,
    stream: true,
    top_p: 1,
  });
});

test('calls of tools, their results and definitions are items of this API', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'grep', arguments: '{"word":"x"}' } };
  const request = {
    prompt: '',
    max_tokens: 5,
    tools: [{ type: 'function', function: { name: 'grep', parameters: { type: 'object' } } }],
    extra: { temperature: 0 },
    history: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'Find x' },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'x is here' },
    ],
  } as const;
  expect(JSON.parse(responses.body(request, { model: 'm', sampling: {}, includeUsage: true }))).toMatchObject({
    tools: [{ type: 'function', name: 'grep', parameters: { type: 'object' } }],
    temperature: 0,
    input: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'Find x' },
      { type: 'function_call', call_id: 'c1', name: 'grep', arguments: '{"word":"x"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'x is here' },
    ],
  });
});

test.each([
  ['text', delta('output_text', 'a'), { ...EMPTY, content: true }],
  ['empty text', delta('output_text', ''), EMPTY],
  ['reasoning', delta('reasoning_text', 'a'), { ...EMPTY, content: true, reasoning: true }],
  ['a summary of the reasoning', delta('reasoning_summary_text', 'a'), { ...EMPTY, content: true, reasoning: true }],
  ['arguments of a call', delta('function_call_arguments', '{'), { ...EMPTY, content: true }],
  ['refusal', delta('refusal', 'no'), { ...EMPTY, content: true }],
  ['the text once more', event('response.output_text.done', { text: 'a' }), EMPTY],
  ['begin', event('response.created', { response: { status: 'in_progress', output: [], usage: null } }), EMPTY],
  [
    'end',
    event('response.completed', { response: { status: 'completed', error: null, output: OUTPUT, usage: USAGE } }),
    { ...EMPTY, finishReason: 'completed', usage: READ },
  ],
  [
    'end by length',
    event('response.incomplete', {
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [], usage: USAGE },
    }),
    { ...EMPTY, finishReason: 'max_output_tokens', usage: READ },
  ],
  [
    'failure',
    event('response.failed', { response: { status: 'failed', error: { code: 'server_error', message: 'no' } } }),
    { ...EMPTY, error: 'no' },
  ],
  ['error event', event('error', { code: 'x', message: 'no', param: null }), { ...EMPTY, error: 'no' }],
  ['error of a gateway', { error: { message: 'no' } }, { ...EMPTY, error: 'no' }],
])('%s', (_name, given, meaning) => {
  expect(responses.interpret(given)).toEqual(meaning);
});

test.each([[null], [{}], [{ choices: [] }], ['x']])('%j is not of the protocol', (given) => {
  expect(responses.interpret(given)).toBeNull();
  expect(responses.interpretWhole(given)).toBeNull();
});

test('a whole answer', () => {
  const answer = { object: 'response', status: 'completed', error: null, output: OUTPUT, usage: USAGE };
  expect(responses.interpretWhole(answer)).toEqual({
    ...EMPTY,
    content: true,
    finishReason: 'completed',
    usage: READ,
  });
  expect(responses.text(answer)).toEqual({ output: 'Hello', reasoning: 'hm' });
  expect(responses.text(delta('output_text', 'a'))).toEqual({ output: 'a', reasoning: '' });
  expect(responses.text(delta('reasoning_text', 'a'))).toEqual({ output: '', reasoning: 'a' });
});
