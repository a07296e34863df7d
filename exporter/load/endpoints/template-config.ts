import { yamlSection, type YamlSection } from '../../files/yaml-section.ts';
import type { JsonObject } from './endpoint.ts';
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
  const root = yamlSection(text, file);
  root.onlyHas(CONFIG_KEYS);
  const answer = layoutOf(root, 'answer');
  const ends = root.choice('ends', ['finish_reason', 'done', 'body'] as const);
  if (ends === 'finish_reason' && answer.finish_reason === null)
    root.refuse('ends', "is 'finish_reason' but answer.finish_reason is missing");
  return {
    path: pathOf(root),
    body: bodyOf(root),
    answer,
    whole: root.has('whole') ? layoutOf(root, 'whole') : answer,
    ends: ends ?? (answer.finish_reason === null ? 'body' : 'finish_reason'),
    done: root.text('done') ?? '[DONE]',
  };
}

function pathOf(root: YamlSection): string {
  const path = root.needed('path', root.text('path'));
  if (!/^\/[!-~]*$/.test(path)) root.refuse('path', `is '${path}' and must begin with / and contain no spaces`);
  return path;
}

function bodyOf(root: YamlSection): JsonObject {
  if (!root.has('body')) root.refuse('body', 'is missing');
  root.section('body');
  const body = root.raw('body') as JsonObject;
  const used = new Set(placeholdersIn(body));
  const unknown = [...used].find((name) => !(PLACEHOLDERS as readonly string[]).includes(name));
  if (unknown !== undefined) {
    const allowed = PLACEHOLDERS.map((name) => `{{${name}}}`).join(', ');
    root.refuse('body', `has the unknown placeholder {{${unknown}}}; allowed are ${allowed}`);
  }
  if (!used.has('prompt') && !used.has('messages')) root.refuse('body', 'contains neither {{prompt}} nor {{messages}}');
  if (!used.has('max_tokens')) root.refuse('body', 'lacks {{max_tokens}}, which limits the length of the response');
  return body;
}

function layoutOf(root: YamlSection, key: string): ResponseLayout {
  if (!root.has(key)) root.refuse(key, 'is missing');
  const layout = root.section(key);
  layout.onlyHas(LAYOUT_KEYS);
  const at = (name: (typeof LAYOUT_PATHS)[number]): JsonPath | null => {
    const path = layout.text(name);
    try {
      return path === null ? null : parseJsonPath(path);
    } catch (error) {
      return layout.refuse(name, `cannot be read: ${(error as Error).message}`);
    }
  };
  return {
    text: layout.needed('text', at('text'), ': set the path of the text in an event'),
    reasoning: at('reasoning'),
    text_is: layout.choice('text_is', ['delta', 'cumulative'] as const) ?? 'delta',
    output_tokens: at('output_tokens'),
    output_tokens_are: layout.choice('output_tokens_are', ['total', 'added'] as const) ?? 'total',
    input_tokens: at('input_tokens'),
    reasoning_tokens: at('reasoning_tokens'),
    cached_tokens: at('cached_tokens'),
    finish_reason: at('finish_reason'),
    error: at('error'),
  };
}
