import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ContentRecognizer } from './content-recognizer.ts';
import type { ContentKind } from './content-recognizer.ts';
import { kindOf } from './response-progress.ts';
import { chat } from '../endpoints/openai.ts';
import type { EventMeaning } from '../endpoints/endpoint.ts';

/** The meaning of the event, parsed, when it is a chunk with content and nothing else. */
function plainMeaning(bytes: Uint8Array): EventMeaning | null {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
  const meaning = chat.interpret(event);
  if (meaning === null || !meaning.content) return null;
  if (meaning.finishReason !== null || meaning.usage !== null || meaning.error !== null) return null;
  return meaning;
}

/** What recognition claims. */
function plainContent(bytes: Uint8Array): ContentKind | null {
  const meaning = plainMeaning(bytes);
  return meaning && kindOf(meaning);
}

const text = fc.oneof(
  fc.constantFrom('', ' token', '"', '\\', '\n', 'é', '😀', '\u2028', '\ud800', '}]'),
  fc.string({ maxLength: 6 }),
);
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined | null> =>
  fc.oneof(value, fc.constantFrom(undefined, null));

/** A list of parts, as Mistral, Databricks and OpenRouter have it. */
const parts = fc.array(
  fc.record({
    type: fc.constantFrom('text', 'thinking', 'reasoning.encrypted', 'reference'),
    text: maybe(text),
    thinking: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.array(fc.record({ type: fc.constant('text'), text }), { maxLength: 2 }) },
    ),
    data: maybe(text),
  }),
  { maxLength: 2 },
);

const delta = fc.record({
  role: maybe(fc.constant('assistant')),
  content: fc.oneof({ weight: 3, arbitrary: maybe(text) }, { weight: 1, arbitrary: parts }),
  reasoning_content: maybe(text),
  reasoning_details: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: parts }),
  reasoning_text: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: text }),
  note: fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.oneof(text, fc.record({ say: text, id: text }), fc.array(text, { maxLength: 2 })) },
  ),
  refusal: fc.constantFrom(undefined, null),
  tool_calls: fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.record({ arguments: text }).map((f) => [{ index: 0, function: f }]) },
  ),
});

const event = fc.record({
  id: text,
  object: fc.constantFrom('chat.completion.chunk', 'error'),
  created: fc.oneof(fc.nat(), fc.constantFrom(-1, 0, 1.5, 1e21)),
  choices: fc.array(
    fc.record({
      index: fc.constantFrom(0, 0, 0, 1, 12, null),
      delta,
      finish_reason: fc.constantFrom(null, null, null, 'stop', undefined),
    }),
    { minLength: 0, maxLength: 2 },
  ),
  usage: fc.constantFrom(undefined, undefined, null, { completion_tokens: 1 }),
  error: fc.constantFrom(undefined, undefined, undefined, 'no', { message: 'no' }),
});

const json = event.map((value) => JSON.stringify(value));
/** The same shape with other values, and with a few bytes broken. */
const variants = fc.tuple(json, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 2 })).map(([whole, edits]) => {
  const bytes = Buffer.from(whole);
  for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
  return bytes;
});

describe('recognizing content chunks by their bytes', () => {
  test('agrees with parsing on random events', () => {
    fc.assert(
      fc.property(fc.array(variants, { minLength: 2, maxLength: 30 }), (events) => {
        const recognizer = new ContentRecognizer(chat.variableKeys);
        for (const bytes of events) {
          const plain = plainMeaning(bytes);
          const recognized = recognizer.recognize(bytes, 0, bytes.length);
          if (recognized !== null) expect(recognized).toBe(plainContent(bytes));
          else if (plain !== null) recognizer.learn(bytes, 0, bytes.length, kindOf(plain), plain.textKeys);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('agrees on every single-byte change of a real event', () => {
    const real = Buffer.from(
      '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763625600,"model":"m","choices":[{"index":0,' +
        '"delta":{"content":" to\\"k\\u00e9n"},"logprobs":null,"finish_reason":null,"token_ids":null}]}',
    );
    const recognizer = new ContentRecognizer(chat.variableKeys);
    recognizer.learn(real, 0, real.length, 'output');
    let recognized = 0;
    for (let at = 0; at < real.length; at++) {
      for (let byte = 0; byte < 256; byte++) {
        const changed = Buffer.from(real);
        changed[at] = byte;
        if (recognizer.recognize(changed, 0, changed.length) === null) continue;
        recognized++;
        if (plainContent(changed) !== 'output') throw new Error(`recognized ${changed.toString()}`);
      }
    }
    // 10 bytes of the id, 10 digits and a few of the content may be almost anything.
    expect(recognized).toBeGreaterThan(3000);
  });

  const vllm = (id: string, content: string): Buffer =>
    Buffer.from(
      JSON.stringify({ id, created: 12, choices: [{ delta: { content }, finish_reason: null }], usage: null }),
    );

  test('recognizes the next chunk of another request after one', () => {
    const recognizer = new ContentRecognizer(chat.variableKeys);
    const first = vllm('a', ' x');
    recognizer.learn(first, 0, first.length, 'output');
    for (const content of [' longer text', '"quoted"', 'new\nline', 'é😀']) {
      const next = vllm('another id', content);
      const framed = Buffer.concat([Buffer.from('data: '), next, Buffer.from('\n\n')]);
      expect(recognizer.recognize(framed, 6, 6 + next.length)).toBe('output');
    }
    const empty = vllm('a', '');
    expect(recognizer.recognize(empty, 0, empty.length)).toBeNull();
  });

  test('keeps several shapes, and stops learning when none of them recurs', () => {
    const recognizer = new ContentRecognizer(chat.variableKeys);
    const kinds = ['a', 'b', 'c'].map((model) =>
      Buffer.from(JSON.stringify({ model, choices: [{ index: 0, delta: { content: 'x' } }] })),
    );
    for (const kind of kinds) recognizer.learn(kind, 0, kind.length, 'output');
    expect(kinds.map((kind) => recognizer.recognize(kind, 0, kind.length))).toEqual(['output', 'output', 'output']);
    const different = (i: number): Buffer =>
      Buffer.from(JSON.stringify({ choices: [{ delta: { content: 'x' }, logprobs: [i] }] }));
    for (let i = 0; i < 40; i++) recognizer.learn(different(i), 0, different(i).length, 'output');
    const last = different(39);
    expect(recognizer.recognize(last, 0, last.length)).toBeNull();
  });

  const chunk = (given: object, more: object = {}): Buffer =>
    Buffer.from(JSON.stringify({ id: 'x', choices: [{ index: 0, delta: given, finish_reason: null, ...more }] }));
  const thinking = (said: string): object => ({ type: 'thinking', thinking: [{ type: 'text', text: said }] });

  /** Each as a function of the text, and for the last of the position in the stream. */
  test.each<[string, (said: string, position: number) => Buffer, ContentKind]>([
    ['content as a list of thinking parts', (said) => chunk({ content: [thinking(said)] }), 'reasoning'],
    ['content as a list of text parts', (said) => chunk({ content: [{ type: 'text', text: said }] }), 'output'],
    [
      'reasoning_details',
      (said) => chunk({ content: '', reasoning_details: [{ type: 'reasoning.text', text: said, index: 0 }] }),
      'reasoning',
    ],
    ['a field of an unknown name', (said) => chunk({ content: '', reasoning_text: said }), 'reasoning'],
    ['an object of unknown names', (said) => chunk({ response: { words: said } }), 'output'],
    ['an unknown field beside content', (said) => chunk({ content: said, spoken: `${said}!` }), 'output'],
    ['the same text as reasoning', (said) => chunk({ reasoning_content: said, reasoning: said }), 'reasoning'],
    ['a custom tool call', (said) => chunk({ tool_calls: [{ index: 0, custom: { input: said } }] }), 'output'],
    ['audio', (said) => chunk({ audio: { data: said } }), 'output'],
    ['a message beside the delta', (said) => chunk({ content: said }, { message: { content: said } }), 'output'],
    ['an index that counts', (said, position) => chunk({ content: said }, { index: position }), 'output'],
  ])('%s: its shape is learned once', (_name, event, kind) => {
    const recognizer = new ContentRecognizer(chat.variableKeys);
    const texts = [' to', 'ken', '"quoted"', 'é😀', '\n'];
    const events = texts.map((said, position) => event(said, position + 1));
    const parsed = events.filter((bytes) => {
      if (recognizer.recognize(bytes, 0, bytes.length) !== null) return false;
      const plain = plainMeaning(bytes);
      if (plain === null) throw new Error('no content');
      recognizer.learn(bytes, 0, bytes.length, kindOf(plain), plain.textKeys);
      return true;
    });
    expect(parsed).toEqual(events.slice(0, 1));
    expect(events.map((bytes) => recognizer.recognize(bytes, 0, bytes.length))).toEqual(texts.map(() => kind));
  });
});
