import { ConfigurationError } from '../../errors/expected-error.ts';
import { messagesEndpoint } from './messages.ts';
import { chatEndpoint, completionsEndpoint } from './openai.ts';
import { embeddings, nimRanking, pooling, rerank, score, teiRerank } from './pooling.ts';
import type { ResponseMode, Endpoint } from './endpoint.ts';
import { responsesEndpoint } from './responses.ts';
import { sglangGenerate, tritonGenerate } from './generate.ts';
import { kserveInfer } from './kserve.ts';
import { type TemplateConfig, templateEndpoint } from './template.ts';

/** Values of `--endpoint-type`. */
export const ENDPOINT_TYPES = [
  'chat',
  'completions',
  'responses',
  'messages',
  'embeddings',
  'pooling',
  'rerank',
  'score',
  'tei_rerank',
  'nim_ranking',
  'sglang_generate',
  'triton_generate',
  'kserve_infer',
  'template',
] as const;
export type EndpointType = (typeof ENDPOINT_TYPES)[number];

export interface EndpointChoice {
  readonly type: EndpointType;
  readonly model: string;
  /** Null: streamed if the endpoint supports it. */
  readonly stream: boolean | null;
  /** Required with the type `template`, and only then. */
  readonly template: TemplateConfig | null;
  /** Of fields of unknown names only these count as output; null or absent: all that have text. */
  readonly outputFields?: readonly string[] | null | undefined;
}

export interface ChosenEndpoint {
  readonly endpoint: Endpoint;
  readonly mode: ResponseMode;
}

/** The configured endpoint. Throws a `ConfigurationError` for options that cannot be combined. */
export function chooseEndpoint(choice: EndpointChoice): ChosenEndpoint {
  const { type, model, template, outputFields = null } = choice;
  if (type === 'template' && template === null)
    throw new ConfigurationError('--endpoint-type template requires --endpoint-template FILE');
  if (type !== 'template' && template !== null)
    throw new ConfigurationError(`--endpoint-template requires --endpoint-type template, not ${type}`);
  if (outputFields !== null && !HAS_UNKNOWN_FIELDS.includes(type))
    throw new ConfigurationError(`--output-fields applies to ${HAS_UNKNOWN_FIELDS.join(', ')}, not to ${type}`);
  const endpoint = endpointOf(type, model, choice.stream ?? true, template, outputFields);
  const mode = (choice.stream ?? endpoint.modes.includes('stream')) ? 'stream' : 'whole';
  if (!endpoint.modes.includes(mode))
    throw new ConfigurationError(`--endpoint-type ${type} does not support streaming: remove --streaming`);
  return { endpoint, mode };
}

/** Types whose responses may have text in fields of any name. */
const HAS_UNKNOWN_FIELDS: readonly EndpointType[] = ['chat', 'completions', 'responses', 'messages'];

function endpointOf(
  type: EndpointType,
  model: string,
  stream: boolean,
  template: TemplateConfig | null,
  outputFields: readonly string[] | null,
): Endpoint {
  switch (type) {
    case 'chat':
      return chatEndpoint(outputFields);
    case 'completions':
      return completionsEndpoint(outputFields);
    case 'responses':
      return responsesEndpoint(outputFields);
    case 'messages':
      return messagesEndpoint(outputFields);
    case 'embeddings':
      return embeddings;
    case 'pooling':
      return pooling;
    case 'rerank':
      return rerank;
    case 'score':
      return score;
    case 'tei_rerank':
      return teiRerank;
    case 'nim_ranking':
      return nimRanking;
    case 'sglang_generate':
      return sglangGenerate;
    case 'triton_generate':
      return tritonGenerate(model, stream);
    case 'kserve_infer':
      return kserveInfer(model);
    case 'template':
      if (template === null) throw new ConfigurationError('--endpoint-type template requires --endpoint-template FILE');
      return templateEndpoint(template);
  }
}
