import { type ResponseText, isObject, type JsonObject } from './endpoint.ts';

/** Reasoning in fields of these names; several may have the same, so the first counts. */
const REASONING_FIELDS = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking',
  'thinking_blocks',
] as const;

/** What the known fields of a message or a delta are. */
const FIELDS: ReadonlyMap<string, 'output' | 'reasoning' | 'text' | 'media' | 'calls' | 'gateway'> = new Map([
  ['content', 'output'],
  ['refusal', 'output'],
  // Counts if there is nothing else.
  ['text', 'text'],
  ...REASONING_FIELDS.map((name) => [name, 'reasoning'] as const),
  ['audio', 'media'],
  ['images', 'media'],
  ['tool_calls', 'calls'],
  ['function_call', 'calls'],
  // Objects in which gateways repeat what they do not pass on under its own name.
  ['provider_specific_fields', 'gateway'],
  ['model_extra', 'gateway'],
  ['additional_kwargs', 'gateway'],
] as const);

/** Names, or ends of names, of fields whose strings describe the response and are not part of it. */
const NO_TEXT_NAME = new RegExp(
  `(^|_)(${[
    'ids?|index|object|type|kind|role|name|author|model|provider|version|fingerprint|tier|status|phase|channel|recipient',
    'state|stage|mode|level|effort|event|error|usage|stats|metrics|timings?|ts|timestamp|date|created|at|time|finish_reason',
    'stop_reason|finish_details|matched_stop|logprobs?|tokens|hash|signature|obfuscation|padding|encrypted|redacted|data|url',
    'uri|format|mime|lang|locale|language|encoding|annotations?|citations?|references?|sources?|search_results|grounding|groundings',
    'metadata|context|extra_content|extra_fields|executed_tools|tool_results?|tool_outputs?|filter_results?|filter_offsets',
    'filter_raw|filter|safety|severity|ratings?|moderation',
  ].join('|')})$|^(encrypted|redacted)_`,
);
/** Types of content parts that point at something else. */
const NO_TEXT_TYPE = /citation|reference|annotation|encrypted|redacted|signature/;
const REASONING_NAME = /reason|think|thought/i;
/** Of nested values; deeper ones are not read. */
const MAX_LEVELS = 12;

/** What a choice or an event carries of the model's response. */
export interface GeneratedContent {
  /** Null: nothing. Output and reasoning together are output. */
  readonly kind: 'output' | 'reasoning' | null;
  readonly text: ResponseText;
  /** Fields that are counted although their names are not known: `delta.reasoning_text`. */
  readonly unknownFields: readonly string[];
  /** Keys of the strings that were read, whose values may be any other text without changing what is said here. */
  readonly textKeys: readonly string[];
}

export const NO_CONTENT: GeneratedContent = {
  kind: null,
  text: { output: '', reasoning: '' },
  unknownFields: [],
  textKeys: [],
};

/** Names of a server recur in every chunk. */
const descriptions = new Map<string, boolean>();
const MAX_NAMES = 1000;

/** Whether strings under this name describe the response instead of being part of it. */
export function isDescription(name: string): boolean {
  const known = descriptions.get(name);
  if (known !== undefined) return known;
  const is = NO_TEXT_NAME.test(name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase());
  if (descriptions.size < MAX_NAMES) descriptions.set(name, is);
  return is;
}

/** All text in a JSON value, except under names that describe it. */
export function textIn(value: unknown): string {
  const reading = new TextReading();
  reading.read(value, '', false);
  return reading.output + reading.reasoning;
}

/**
 * The content of a `delta` or `message`: a string, a list of parts or an object. A field whose name is not known counts
 * when it has text and no known field has any, or only if it is in `chosen`. `where` is the name of what is read.
 */
export function contentOf(given: unknown, where: string, chosen: ReadonlySet<string> | null): GeneratedContent {
  if (!isObject(given)) return contentOfText(given, where);
  const reading = new TextReading();
  const thought = isThought(given);
  let hasOthers = false;
  for (const name in given) {
    const value = given[name];
    if (value === null || value === '') continue;
    switch (FIELDS.get(name)) {
      case 'output':
        reading.read(value, name, thought);
        break;
      case 'reasoning':
        if (reading.reasoning === '') reading.read(value, name, true);
        break;
      case 'media':
        readMedia(name, value, reading);
        break;
      case 'calls':
        if (hasCall(value)) reading.hasMore = true;
        break;
      default:
        hasOthers = true;
    }
  }
  return hasOthers ? withOthers(given, where, chosen, reading) : reading.content([]);
}

/** Reads what counts only if other fields have nothing. */
function withOthers(
  given: JsonObject,
  where: string,
  chosen: ReadonlySet<string> | null,
  reading: TextReading,
): GeneratedContent {
  if (reading.isEmpty) reading.read(given.text, 'text', false);
  const isKnown = reading.kind !== null;
  const unknownFields: string[] = [];
  for (const name in given) {
    const value = given[name];
    const field = FIELDS.get(name);
    if (field === 'gateway' && isObject(value)) readReasoning(value, reading);
    if (field !== undefined || (chosen === null ? isDescription(name) : !chosen.has(name))) continue;
    if (isKnown) reading.skip(value, name);
    else if (reading.read(value, name, REASONING_NAME.test(name)) && chosen === null)
      unknownFields.push(`${where}.${name}`);
  }
  return reading.content(unknownFields);
}

/** The content of a value that is text, or a list of parts of it, with the reasoning beside it. */
export function contentOfText(value: unknown, name: string, besides: JsonObject = {}): GeneratedContent {
  const reading = new TextReading();
  reading.read(value, name, false);
  readReasoning(besides, reading);
  return reading.content([]);
}

function readReasoning(given: JsonObject, reading: TextReading): void {
  for (const name of REASONING_FIELDS) if (reading.reasoning === '') reading.read(given[name], name, true);
}

/** Gemini marks a delta whose content is a thought. */
function isThought({ extra_content }: JsonObject): boolean {
  return isObject(extra_content) && isObject(extra_content.google) && extra_content.google.thought === true;
}

/** Generated output that is no text; the transcript of audio is. */
function readMedia(name: string, value: unknown, reading: TextReading): void {
  reading.addKey('data');
  if (name === 'images') reading.hasMore ||= Array.isArray(value) && value.length > 0;
  else if (isObject(value)) {
    reading.read(value.transcript, 'transcript', false);
    reading.hasMore ||= isText(value.data);
  } else reading.hasMore ||= isText(value);
}

/** Types of content parts that are generated and no text. */
const MEDIA_TYPE = /^(output_)?(image|audio|video)/;

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
class TextReading {
  output = '';
  reasoning = '';
  /** Generated output that is no text. */
  hasMore = false;
  #keys: string[] = [];

  get isEmpty(): boolean {
    return this.output === '' && this.reasoning === '';
  }

  addKey(key: string): void {
    if (!this.#keys.includes(key)) this.#keys.push(key);
  }

  /** Reads the value under a key, and says whether it has text. */
  read(value: unknown, key: string, isReasoning: boolean, levels = MAX_LEVELS): boolean {
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
    if (MEDIA_TYPE.test(type)) {
      this.hasMore = true;
      return true;
    }
    const thought = isReasoning || part.thought === true || REASONING_NAME.test(type);
    for (const name in part) if (!isDescription(name) && this.read(part[name], name, thought, levels - 1)) found = true;
    return found;
  }

  /** Notes only the keys of a value that changes nothing. */
  skip(value: unknown, key: string): void {
    const skipped = new TextReading();
    skipped.read(value, key, false);
    for (const each of skipped.#keys) this.addKey(each);
  }

  get kind(): GeneratedContent['kind'] {
    if (this.output !== '' || this.hasMore) return 'output';
    return this.reasoning === '' ? null : 'reasoning';
  }

  content(unknownFields: readonly string[]): GeneratedContent {
    const { kind, output, reasoning } = this;
    // What describes a response decides what it means.
    const textKeys = this.#keys.some(isDescription) ? this.#keys.filter((key) => !isDescription(key)) : this.#keys;
    return { kind, text: { output, reasoning }, unknownFields, textKeys };
  }

  #add(text: string, key: string, isReasoning: boolean): boolean {
    if (text === '') return false;
    this.addKey(key);
    if (isReasoning) this.reasoning += text;
    else this.output += text;
    return true;
  }
}
