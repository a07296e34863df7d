import { parseDocument } from 'yaml';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { isObject, type JsonObject } from './endpoint.ts';
import {
  PLACEHOLDERS,
  parseJsonPath,
  placeholdersIn,
  type JsonPath,
  type ResponseLayout,
  type TemplateConfig,
} from './template.ts';

const CONFIG_KEYS = ['path', 'body', 'answer', 'whole', 'ends', 'done'] as const;
const LAYOUT_PATHS = [
  'text',
  'reasoning',
  'output_tokens',
  'input_tokens',
  'reasoning_tokens',
  'cached_tokens',
  'finish_reason',
  'error',
] as const;
const LAYOUT_KEYS = [...LAYOUT_PATHS, 'text_is', 'output_tokens_are'] as const;

/** Reads a template from YAML or JSON text. Throws a `ConfigurationError` that begins with `file`. */
export function parseTemplate(text: string, file: string): TemplateConfig {
  const document = parseDocument(text, { uniqueKeys: true, strict: true });
  const [problem] = document.errors;
  if (problem !== undefined) throw new ConfigurationError(`${file}: ${problem.message.split('\n')[0] ?? ''}`);
  const config: unknown = document.toJS({ maxAliasCount: 100 });
  const read = new TemplateReader(file);
  const root = read.object(config, 'the template');
  read.keys(root, CONFIG_KEYS, '');
  const answer = read.layout(root.answer, 'answer');
  const ends = read.choice(root.ends, 'ends', ['finish_reason', 'done', 'body'] as const);
  if (ends === 'finish_reason' && answer.finish_reason === null)
    read.refuse("ends is 'finish_reason' but answer.finish_reason is missing");
  return {
    path: read.path(root.path),
    body: read.body(root.body),
    answer,
    whole: root.whole === undefined ? answer : read.layout(root.whole, 'whole'),
    ends: ends ?? (answer.finish_reason === null ? 'body' : 'finish_reason'),
    done: root.done === undefined ? '[DONE]' : read.text(root.done, 'done'),
  };
}

class TemplateReader {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  refuse(problem: string): never {
    throw new ConfigurationError(`${this.#file}: ${problem}`);
  }

  object(value: unknown, name: string): JsonObject {
    if (value === undefined) this.refuse(`${name} is missing`);
    return isObject(value) ? value : this.refuse(`${name} is ${shown(value)} and must be a mapping`);
  }

  keys(object: JsonObject, allowed: readonly string[], prefix: string): void {
    const unknown = Object.keys(object).find((key) => !allowed.includes(key));
    if (unknown !== undefined) this.refuse(`unknown key ${prefix}${unknown}; allowed are ${allowed.join(', ')}`);
  }

  text(value: unknown, name: string): string {
    if (value === undefined) this.refuse(`${name} is missing`);
    return typeof value === 'string' && value !== ''
      ? value
      : this.refuse(`${name} is ${shown(value)} and must be a string`);
  }

  choice<T extends string>(value: unknown, name: string, allowed: readonly T[]): T | null {
    if (value === undefined) return null;
    const found = allowed.find((candidate) => candidate === value);
    return found ?? this.refuse(`${name} is ${shown(value)} and must be one of ${allowed.join(', ')}`);
  }

  path(value: unknown): string {
    const path = this.text(value, 'path');
    if (!/^\/[!-~]*$/.test(path)) this.refuse(`path is ${shown(path)} and must begin with / and contain no spaces`);
    return path;
  }

  body(value: unknown): JsonObject {
    const body = this.object(value, 'body');
    const used = new Set(placeholdersIn(body));
    const unknown = [...used].find((name) => !(PLACEHOLDERS as readonly string[]).includes(name));
    if (unknown !== undefined)
      this.refuse(
        `body: unknown placeholder {{${unknown}}}; allowed are ${PLACEHOLDERS.map((p) => `{{${p}}}`).join(', ')}`,
      );
    if (!used.has('prompt') && !used.has('messages')) this.refuse('body contains neither {{prompt}} nor {{messages}}');
    if (!used.has('max_tokens')) this.refuse('{{max_tokens}} is missing in body: it limits the length of the response');
    return body;
  }

  layout(value: unknown, name: string): ResponseLayout {
    const object = this.object(value, name);
    this.keys(object, LAYOUT_KEYS, `${name}.`);
    const at = (key: (typeof LAYOUT_PATHS)[number]): JsonPath | null =>
      object[key] === undefined ? null : this.#jsonPath(object[key], `${name}.${key}`);
    return {
      text: at('text') ?? this.refuse(`${name}.text is missing: set the path of the text in an event`),
      reasoning: at('reasoning'),
      text_is: this.choice(object.text_is, `${name}.text_is`, ['delta', 'cumulative'] as const) ?? 'delta',
      output_tokens: at('output_tokens'),
      output_tokens_are:
        this.choice(object.output_tokens_are, `${name}.output_tokens_are`, ['total', 'added'] as const) ?? 'total',
      input_tokens: at('input_tokens'),
      reasoning_tokens: at('reasoning_tokens'),
      cached_tokens: at('cached_tokens'),
      finish_reason: at('finish_reason'),
      error: at('error'),
    };
  }

  #jsonPath(value: unknown, name: string): JsonPath {
    try {
      return parseJsonPath(this.text(value, name));
    } catch (error) {
      if (error instanceof ConfigurationError) throw error;
      return this.refuse(`${name}: ${(error as Error).message}`);
    }
  }
}

const shown = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));
