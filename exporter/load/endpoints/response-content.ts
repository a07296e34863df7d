import type { AnswerText } from './endpoint.ts';
import { isObject } from './json-object.ts';
import type { JsonObject } from './json-object.ts';

/** Fields of a message or a delta with the model's response, and with what it thought before. */
const OUTPUT_FIELDS = ['content', 'refusal'] as const;
const REASONING_FIELDS = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking',
  'thinking_blocks',
] as const;
/** Objects in which gateways repeat what they do not pass on under its own name. */
const GATEWAY_FIELDS = ['provider_specific_fields', 'model_extra', 'additional_kwargs'] as const;
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...OUTPUT_FIELDS,
  ...REASONING_FIELDS,
  ...GATEWAY_FIELDS,
  'text',
  'audio',
  'images',
  'tool_calls',
  'function_call',
]);

/** Names, or ends of names, of fields whose strings describe the response and are not part of it. */
const NO_TEXT_NAME = new RegExp(
  `(^|_)(${[
    'ids?|index|object|type|kind|role|name|author|model|provider|version|fingerprint|tier|status|phase|channel|recipient',
    'event|error|usage|stats|metrics|timings?|timestamp|created|at|time|finish_reason|stop_reason|finish_details|matched_stop',
    'logprobs?|tokens|hash|signature|obfuscation|encrypted|encrypted_content|redacted|data|url|uri|format|mime|language|encoding',
    'annotations?|citations?|references?|sources?|search_results|grounding|groundings|grounding_metadata|metadata|context',
    'extra_content|extra_fields|filter_results?|filter_offsets|filter_raw|filter|safety|ratings?|moderation',
  ].join('|')})$`,
);
/** Types of content parts that point at something else. */
const NO_TEXT_TYPE = /citation|reference|annotation|encrypted|redacted|signature/;
const REASONING_NAME = /reason|think|thought/i;
/** Of nested values; deeper ones are not read. */
const MOST_LEVELS = 12;

/** What a choice or an event carries of the model's response. */
export interface ResponseContent {
  /** Null: nothing. Output and reasoning together are output. */
  readonly kind: 'output' | 'reasoning' | null;
  readonly text: AnswerText;
  /** Fields that are counted although their names are not known: `delta.reasoning_text`. */
  readonly unknownFields: readonly string[];
  /** Keys of the strings that were read, whose values may be any other text without changing what is said here. */
  readonly textKeys: readonly string[];
}

export const NO_CONTENT: ResponseContent = {
  kind: null,
  text: { output: '', reasoning: '' },
  unknownFields: [],
  textKeys: [],
};

/** Whether strings under this name describe the response instead of being part of it. */
export function isDescription(name: string): boolean {
  return NO_TEXT_NAME.test(name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase());
}

/** All text in a JSON value, except under names that describe it. */
export function textIn(value: unknown): string {
  const reading = new Reading();
  reading.read(value, '', false);
  return reading.output + reading.reasoning;
}

/**
 * The content of a `delta` or `message`: a string, a list of parts or an object. A field whose name is not known counts
 * when it has text and no known field has any, or only if it is in `chosen`. `where` is the name of what is read.
 */
export function contentOf(given: unknown, where: string, chosen: ReadonlySet<string> | null): ResponseContent {
  if (!isObject(given)) return contentOfText(given, where);
  const reading = new Reading();
  const thought = isThought(given);
  for (const name of OUTPUT_FIELDS) reading.read(given[name], name, thought);
  readReasoning(given, reading);
  if (reading.isEmpty) reading.read(given.text, 'text', thought);
  const isCall = hasCall(given.tool_calls) || hasCall(given.function_call);
  const hasMedia = readMedia(given, reading);
  const known = reading.kind(isCall || hasMedia);
  const unknownFields: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (KNOWN_FIELDS.has(name) || (chosen === null ? isDescription(name) : !chosen.has(name))) continue;
    if (known !== null) reading.skip(value, name);
    else if (reading.read(value, name, REASONING_NAME.test(name)) && chosen === null)
      unknownFields.push(`${where}.${name}`);
  }
  return reading.content(reading.kind(isCall || hasMedia), unknownFields);
}

/** The content of a value that is text, or a list of parts of it. */
export function contentOfText(value: unknown, name: string, besides: JsonObject = {}): ResponseContent {
  const reading = new Reading();
  reading.read(value, name, false);
  readReasoning(besides, reading);
  return reading.content(reading.kind(false), []);
}

/** Several fields may carry the same reasoning, so the first of them counts. */
function readReasoning(given: JsonObject, reading: Reading): void {
  const places = [given, ...GATEWAY_FIELDS.map((name) => given[name]).filter(isObject)];
  for (const place of places) {
    for (const name of REASONING_FIELDS) {
      if (reading.reasoning !== '') return;
      reading.read(place[name], name, true);
    }
  }
}

/** Gemini marks a delta whose content is a thought. */
function isThought({ extra_content }: JsonObject): boolean {
  return isObject(extra_content) && isObject(extra_content.google) && extra_content.google.thought === true;
}

/** Generated output that is no text; the transcript of audio is. */
function readMedia({ audio, images }: JsonObject, reading: Reading): boolean {
  if (Array.isArray(images) && images.length > 0) return true;
  if (!isObject(audio)) return isText(audio);
  reading.addKey('data');
  return reading.read(audio.transcript, 'transcript', false) || isText(audio.data);
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** Calls of functions and of custom tools: the first piece of a call has its name, the later ones what it is given. */
function hasCall(calls: unknown): boolean {
  const listed: readonly unknown[] = Array.isArray(calls) ? (calls as unknown[]) : [calls];
  return listed.filter(isObject).some((call) => [call, ...Object.values(call)].some(isCallPiece));
}

function isCallPiece(piece: unknown): boolean {
  if (!isObject(piece)) return false;
  const { name, arguments: given, input } = piece;
  return isText(name) || isText(given) || isText(input) || isObject(given);
}

/** Collects the text in values of any nesting. */
class Reading {
  output = '';
  reasoning = '';
  readonly #keys = new Set<string>();

  get isEmpty(): boolean {
    return this.output === '' && this.reasoning === '';
  }

  addKey(key: string): void {
    this.#keys.add(key);
  }

  /** Reads the value under a key, and says whether it has text. */
  read(value: unknown, key: string, isReasoning: boolean, levels = MOST_LEVELS): boolean {
    if (typeof value === 'string') return this.#add(value, key, isReasoning);
    if (levels === 0 || typeof value !== 'object' || value === null) return false;
    let found = false;
    if (Array.isArray(value)) {
      for (const item of value as unknown[]) if (this.read(item, key, isReasoning, levels - 1)) found = true;
      return found;
    }
    const part = value as JsonObject;
    const type = typeof part.type === 'string' ? part.type : '';
    if (NO_TEXT_TYPE.test(type)) return false;
    const thought = isReasoning || part.thought === true || REASONING_NAME.test(type);
    for (const [name, inner] of Object.entries(part))
      if (!isDescription(name) && this.read(inner, name, thought, levels - 1)) found = true;
    return found;
  }

  /** Notes only the keys of a value that changes nothing. */
  skip(value: unknown, key: string): void {
    const skipped = new Reading();
    skipped.read(value, key, false);
    for (const each of skipped.#keys) this.#keys.add(each);
  }

  kind(hasMore: boolean): ResponseContent['kind'] {
    if (this.output !== '' || hasMore) return 'output';
    return this.reasoning === '' ? null : 'reasoning';
  }

  content(kind: ResponseContent['kind'], unknownFields: readonly string[]): ResponseContent {
    const { output, reasoning } = this;
    // What describes a response decides what it means.
    const textKeys = [...this.#keys].filter((key) => !isDescription(key));
    return { kind, text: { output, reasoning }, unknownFields, textKeys };
  }

  #add(text: string, key: string, isReasoning: boolean): boolean {
    if (text === '') return false;
    this.#keys.add(key);
    if (isReasoning) this.reasoning += text;
    else this.output += text;
    return true;
  }
}
