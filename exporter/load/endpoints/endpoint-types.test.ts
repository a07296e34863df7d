import { describe, expect, test } from '@jest/globals';
import { chooseEndpoint, ENDPOINT_TYPES, type EndpointType } from './endpoint-types.ts';
import type { GenerationOptions } from './endpoint.ts';
import { checkedExtraInputs, parseExtraInputs } from './extra-inputs.ts';
import { parseTemplate } from './template.ts';

const template = parseTemplate('{path: /x, body: {p: "{{prompt}}", n: "{{max_tokens}}"}, answer: {text: t}}', 't');

describe('the choice of the endpoint', () => {
  test.each(ENDPOINT_TYPES)('%s', (type) => {
    const chosen = chooseEndpoint({ type, model: 'm', stream: null, template: type === 'template' ? template : null });
    expect(chosen.endpoint.type).toBe(type);
    const isStreamed = chosen.endpoint.generates && type !== 'kserve_infer';
    expect(chosen.mode).toBe(isStreamed ? 'stream' : 'whole');
  });

  test.each([
    [{ type: 'template', template: null, stream: null }, '--endpoint-type template requires --endpoint-template FILE'],
    [{ type: 'chat', template, stream: null }, '--endpoint-template requires --endpoint-type template, not chat'],
    [
      { type: 'embeddings', template: null, stream: true },
      '--endpoint-type embeddings does not support streaming: remove --streaming',
    ],
    [
      { type: 'sglang_generate', template: null, stream: null, outputFields: ['a'] },
      '--output-fields applies to chat, completions, responses, messages, not to sglang_generate',
    ],
  ] as const)('%j', (choice, message) => {
    expect(() => chooseEndpoint({ model: 'm', ...choice })).toThrow(message);
  });
});

describe('extra inputs', () => {
  test.each([
    [['temperature:0'], { temperature: 0 }],
    [['stop:"a:b"'], { stop: 'a:b' }],
    [['user:me:you'], { user: 'me:you' }],
    [['a:1', 'a:2'], { a: 2 }],
    [['{"nvext":{"top_k":3},"a":null}', 'b:true'], { nvext: { top_k: 3 }, a: null, b: true }],
    [['empty:'], { empty: '' }],
  ])('%j', (given, inputs) => {
    expect(parseExtraInputs(given)).toEqual(inputs);
  });

  test.each([
    ['temperature', "--extra-inputs 'temperature' must be NAME:VALUE or a JSON object"],
    ['{"a":', '--extra-inputs {… is not valid JSON'],
  ])('%j', (given, message) => {
    expect(() => parseExtraInputs([given])).toThrow(message);
  });

  test.each([
    ['max_tokens', 'set --osl'],
    ['n', 'responses with several choices have no inter-token latency'],
    ['messages', 'llmbench sets the prompt'],
    ['stream_options', 'llmbench sets this field; the value null removes it'],
  ])('%s is not to be given', (name, remedy) => {
    const { endpoint } = chooseEndpoint({ type: 'chat', model: 'm', stream: null, template: null });
    expect(() => checkedExtraInputs({ [name]: 2 }, endpoint.ownFields)).toThrow(`--extra-inputs ${name}: ${remedy}`);
    expect(() => checkedExtraInputs({ temperature: 2 }, endpoint.ownFields)).not.toThrow();
  });
});

describe('a removed field', () => {
  const request = { prompt: 'hi', max_tokens: 5 };
  const bodyOf = (
    type: EndpointType,
    inputs: Record<string, null>,
    options: Partial<GenerationOptions> = {},
  ): object => {
    const { endpoint, mode } = chooseEndpoint({ type, model: 'm', stream: null, template: null });
    const { sampling, omitted } = checkedExtraInputs(inputs, endpoint.ownFields);
    const rest = { model: 'm', sampling, omitted, includeUsage: true, stream: mode === 'stream', ...options };
    return JSON.parse(endpoint.body(request, rest)) as object;
  };

  test.each<[EndpointType, string]>([
    ['chat', 'stream_options'],
    ['chat', 'max_tokens'],
    ['completions', 'model'],
    ['responses', 'max_output_tokens'],
    ['embeddings', 'model'],
    ['triton_generate', 'stream'],
  ])('%s: %s', (type, name) => {
    expect(bodyOf(type, {})).toHaveProperty(name);
    expect(bodyOf(type, { [name]: null })).not.toHaveProperty(name);
  });

  test('is also removed from the sampling parameters of SGLang', () => {
    expect(bodyOf('sglang_generate', { max_new_tokens: null })).toEqual({
      text: 'hi',
      sampling_params: {},
      stream: true,
    });
  });

  test('another field limits the output', () => {
    const body = bodyOf('chat', {}, { lengthField: 'max_completion_tokens' });
    expect(body).toHaveProperty('max_completion_tokens', 5);
    expect(body).not.toHaveProperty('max_tokens');
  });
});
