import { describe, expect, test } from '@jest/globals';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { templateEndpoint, parseTemplate } from './template.ts';

/** Text Generation Inference's own API. */
const TGI = `
path: /generate_stream
body:
  inputs: "{{prompt}}"
  parameters: { max_new_tokens: "{{max_tokens}}", details: true }
  note: "for {{model}}, at most {{max_tokens}}"
  stream: "{{stream}}"
answer:
  text: token.text
  finish_reason: details.finish_reason
  output_tokens: details.generated_tokens
whole:
  text: generated_text
  output_tokens: details.generated_tokens
`;
const tgi = templateEndpoint(parseTemplate(TGI, 't.yaml'));
const EMPTY = { content: false, finishReason: null, usage: null, error: null };

describe('an API by template', () => {
  test('placeholders have their type alone, and are text within text', () => {
    const body = tgi.body(
      { prompt: 'hi "you"', max_tokens: 5 },
      { model: 'm', sampling: { seed: 1 }, includeUsage: true },
    );
    expect(JSON.parse(body)).toEqual({
      inputs: 'hi "you"',
      parameters: { max_new_tokens: 5, details: true },
      note: 'for m, at most 5',
      stream: true,
      seed: 1,
    });
    expect(tgi.path).toBe('/generate_stream');
  });

  test('a prompt that looks like a placeholder is not filled', () => {
    const options = { model: 'm', sampling: {}, includeUsage: true };
    expect(JSON.parse(tgi.body({ prompt: '{{model}} $& $1', max_tokens: 5 }, options))).toMatchObject({
      inputs: '{{model}} $& $1',
    });
  });

  test.each([
    ['text', { token: { id: 1, text: 'a' }, generated_text: null, details: null }, { ...EMPTY, content: true }],
    [
      'the end',
      { token: { text: '' }, details: { finish_reason: 'length', generated_tokens: 3 } },
      {
        ...EMPTY,
        finishReason: 'length',
        usage: { input_tokens: null, output_tokens: 3, reasoning_tokens: null, cached_tokens: null },
      },
    ],
    ['an error in a usual form', { error: 'overloaded', error_type: 'overloaded' }, { ...EMPTY, error: 'overloaded' }],
  ])('%s', (_name, event, meaning) => {
    expect(tgi.interpret(event)).toEqual(meaning);
  });

  test('a whole answer has its own paths', () => {
    const response = { generated_text: 'abc', details: { generated_tokens: 3 } };
    expect(tgi.interpretWhole(response)).toMatchObject({ content: true, usage: { output_tokens: 3 } });
    expect(tgi.text(response)).toEqual({ output: 'abc', reasoning: '' });
  });

  test('cumulative text, counts to be added, an own error and an own end', () => {
    const endpoint = templateEndpoint(
      parseTemplate(
        `{"path": "/p", "body": {"m": "{{messages}}", "n": "{{max_tokens}}"}, "done": "END", "ends": "done",
          "answer": {"text": "out[0].t", "text_is": "cumulative", "output_tokens": "n", "output_tokens_are": "added", "error": "err.0"}}`,
        't.json',
      ),
    );
    expect(endpoint).toMatchObject({ wholeBy: 'done', doneData: 'END', addsUsage: true });
    expect(endpoint.variableKeys.size).toBe(0);
    expect(endpoint.interpret({ out: [{ t: 'abc' }], n: 2 })).toMatchObject({ content: true, progress: 3 });
    expect(endpoint.interpret({ err: { '0': 'no' } })).toMatchObject({ error: 'no' });
  });
});

describe('invalid templates', () => {
  const BODY = 'body: { a: "{{prompt}}", b: "{{max_tokens}}" }';
  test.each([
    ['{', /^t\.yaml:1: .+/],
    ['- 1', /^t\.yaml: the file must be a mapping$/],
    ['paht: /x', /^t\.yaml:1: paht is not a known key; the keys are path, body, answer, whole, ends, done$/],
    ['path: x\npath: y', /^t\.yaml:2: Map keys must be unique/],
    [`path: x\n${BODY}\nanswer: { text: a }`, /^t\.yaml:1: path is 'x' and must begin with \//],
    [`${BODY}\nanswer: { text: a }`, /^t\.yaml: path is missing$/],
    ['path: /x\nanswer: { text: a }', /^t\.yaml: body is missing$/],
    [
      'path: /x\nbody: { a: "{{promt}}" }\nanswer: { text: a }',
      /^t\.yaml:2: body has the unknown placeholder \{\{promt\}\}; allowed are \{\{prompt\}\}/,
    ],
    ['path: /x\nbody: { b: "{{max_tokens}}" }\nanswer: { text: a }', /neither \{\{prompt\}\} nor \{\{messages\}\}$/],
    ['path: /x\nbody: { b: "{{prompt}}" }\nanswer: { text: a }', /body lacks \{\{max_tokens\}\}/],
    [`path: /x\n${BODY}`, /^t\.yaml: answer is missing$/],
    [`path: /x\n${BODY}\nanswer: {}`, /^t\.yaml:3: answer\.text is missing/],
    [`path: /x\n${BODY}\nanswer: { txt: a }`, /^t\.yaml:3: answer\.txt is not a known key; the keys are text,/],
    [
      `path: /x\n${BODY}\nanswer: { text: "a..b" }`,
      /^t\.yaml:3: answer\.text cannot be read: 'a\.\.b' is not a valid path at character 2/,
    ],
    [`path: /x\n${BODY}\nanswer: { text: 3 }`, /^t\.yaml:3: answer\.text must be a string$/],
    [
      `path: /x\n${BODY}\nanswer: { text: a, text_is: whole }`,
      /text_is is 'whole' and must be one of delta, cumulative$/,
    ],
    [`path: /x\n${BODY}\nanswer: { text: a }\nends: finish_reason`, /answer\.finish_reason is missing$/],
    [
      `path: /x\n${BODY}\nanswer: { text: a }\nends: never`,
      /ends is 'never' and must be one of finish_reason, done, body$/,
    ],
  ])('%j', (text, message) => {
    const parse = (): unknown => parseTemplate(text, 't.yaml');
    expect(parse).toThrow(ConfigurationError);
    expect(parse).toThrow(message);
  });
});
