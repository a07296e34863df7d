import { ownValue } from '../../../core/text/nearest-names.ts';
import { canonicalJson, type JsonValue } from '../../../core/run/canonical-json.ts';
import { withoutSecrets } from '../../../core/run/secret-fields.ts';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { isObject } from './endpoint.ts';

/**
 * Reads `--extra-inputs`: each is `name:value`, where the value is JSON or otherwise a string, or a JSON object of
 * several; null removes a field. The last one of a name wins. Throws a `ConfigurationError`.
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

/** Fields of the prompt, without which there is nothing to measure. */
const PROMPT_FIELDS: ReadonlySet<string> = new Set([
  'messages',
  'prompt',
  'input',
  'text',
  'text_input',
  'query',
  'documents',
  'text_1',
  'text_2',
]);

/** The fields to send, and those to remove from every body. */
export interface ExtraInputs {
  readonly sampling: Readonly<Record<string, JsonValue>>;
  readonly omitted: readonly string[];
}

/** Throws a `ConfigurationError` when an extra input sets a field that llmbench sets, or removes the prompt. */
export function checkedExtraInputs(
  inputs: Readonly<Record<string, JsonValue>>,
  ownFields: readonly string[],
): ExtraInputs {
  const isRemoved = (name: string): boolean => inputs[name] === null;
  const refused = ownFields.find(
    (name) => Object.hasOwn(inputs, name) && (PROMPT_FIELDS.has(name) || !isRemoved(name)),
  );
  if (refused !== undefined) {
    const why = PROMPT_FIELDS.has(refused) ? 'llmbench sets the prompt' : (ownValue(REMEDIES, refused) ?? OWN);
    throw new ConfigurationError(`--extra-inputs ${refused}: ${why}`);
  }
  return {
    sampling: Object.fromEntries(Object.entries(inputs).filter(([name]) => !isRemoved(name))),
    omitted: Object.keys(inputs).filter(isRemoved),
  };
}

const OWN = 'llmbench sets this field; the value null removes it';

const REMEDIES: Readonly<Record<string, string>> = {
  model: 'set --model',
  stream: 'set --streaming or --no-streaming',
  max_tokens: 'set --osl; the value null removes the field',
  max_output_tokens: 'set --osl; the value null removes the field',
  max_new_tokens: 'set --osl; the value null removes the field',
  n: 'responses with several choices have no inter-token latency: send more requests instead',
  best_of: 'responses with several choices have no inter-token latency: send more requests instead',
};
