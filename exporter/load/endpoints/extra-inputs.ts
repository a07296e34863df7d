import { canonicalJson, type JsonValue } from '../../../core/run/canonical-json.ts';
import { withoutSecrets } from '../../../core/run/secret-fields.ts';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import { isObject } from './json-object.ts';

/**
 * Reads `--extra-inputs`: each is `name:value`, where the value is JSON or otherwise a string, or a JSON object of
 * several. The last one of a name wins. Throws a `ConfigurationError`.
 */
export function parseExtraInputs(given: readonly string[]): Readonly<Record<string, JsonValue>> {
  return Object.fromEntries(given.flatMap(entries));
}

function entries(text: string): readonly (readonly [string, JsonValue])[] {
  if (text.trimStart().startsWith('{')) {
    const object = jsonOf(text);
    // The text may contain a secret, which cannot be found in it.
    if (!isObject(object)) throw new ConfigurationError('--extra-inputs {… is not valid JSON');
    return Object.entries(object as Record<string, JsonValue>);
  }
  const match = /^([^:]+):([^]*)$/.exec(text);
  const [, name = '', value = ''] = match ?? [];
  if (match === null)
    throw new ConfigurationError(`--extra-inputs '${withoutSecrets(text)}' must be NAME:VALUE or a JSON object`);
  const json = jsonOf(value);
  return [[name, json === undefined ? value : (json as JsonValue)]];
}

/** One `--extra-inputs` as it may be shown: with `***` for credentials. */
export function publicExtraInput(text: string): string {
  const given = Object.fromEntries(entries(text));
  const shown = withoutSecrets(given);
  if (canonicalJson(shown) === canonicalJson(given)) return text;
  const [name, value] = Object.entries(shown)[0] ?? ['', ''];
  if (text.trimStart().startsWith('{')) return JSON.stringify(shown);
  return `${name}:${typeof value === 'string' ? value : JSON.stringify(value)}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Throws a `ConfigurationError` when an extra input is a field that llmbench sets. */
export function checkExtraInputs(inputs: Readonly<Record<string, JsonValue>>, ownFields: readonly string[]): void {
  const taken = Object.keys(inputs).find((name) => ownFields.includes(name));
  if (taken === undefined) return;
  throw new ConfigurationError(`--extra-inputs ${taken}: ${REMEDIES[taken] ?? 'llmbench sets this field'}`);
}

const REMEDIES: Readonly<Record<string, string>> = {
  model: 'say --model',
  stream: 'use --streaming or --no-streaming',
  max_tokens: 'say --osl',
  max_output_tokens: 'say --osl',
  max_new_tokens: 'say --osl',
  n: 'responses with several choices have no inter-token latency: send more requests instead',
  best_of: 'responses with several choices have no inter-token latency: send more requests instead',
};
