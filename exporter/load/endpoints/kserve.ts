import {
  type Endpoint,
  type EventMeaning,
  type GenerationOptions,
  type GenerationRequest,
  isObject,
  type JsonObject,
  NO_TEXT,
  type ResponseText,
  errorMessage,
} from './endpoint.ts';
import { bodyText, plainText } from './openai.ts';

/** A batch of one, as the models of Triton's TensorRT-LLM backend take it. */
const SHAPE = [1, 1];

/**
 * `/v2/models/<model>/infer` of the Open Inference Protocol (KServe v2): named tensors, and one response. Text goes in as
 * `text_input` and comes out as `text_output`, the names of Triton's backends for language models; each extra input is a
 * tensor of its own. The protocol has no counts of tokens.
 */
export function kserveInfer(model: string): Endpoint {
  return {
    type: 'kserve_infer',
    path: `/v2/models/${encodeURIComponent(model)}/infer`,
    ownFields: ['inputs', 'text_input', 'max_tokens'],
    lengthField: 'max_tokens',
    modes: ['whole'],
    wholeBy: 'body',
    generates: true,
    variableKeys: new Set(),

    body(request: GenerationRequest, options: GenerationOptions): string {
      const { payload, max_tokens } = request;
      if (payload !== undefined) return bodyText(payload, options);
      const omitted = options.omitted ?? [];
      const fields = { text_input: plainText(request), max_tokens, ...options.sampling };
      const inputs = Object.entries(fields).flatMap(([name, value]) =>
        omitted.includes(name) ? [] : [{ name, shape: SHAPE, datatype: datatypeOf(value), data: [value] }],
      );
      return bodyText({ inputs }, options);
    },

    interpret: (): EventMeaning | null => null,

    interpretWhole(response: unknown): EventMeaning | null {
      if (!isObject(response)) return null;
      const error = errorMessage(response);
      if (error === null && !Array.isArray(response.outputs)) return null;
      return { content: outputText(response) !== '', finishReason: null, usage: null, error };
    },

    text: (json: unknown): ResponseText => (isObject(json) ? { output: outputText(json), reasoning: '' } : NO_TEXT),
  };
}

function datatypeOf(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'INT32' : 'FP32';
  return typeof value === 'boolean' ? 'BOOL' : 'BYTES';
}

/** The texts of the tensor `text_output`, or of the only one. */
function outputText({ outputs }: JsonObject): string {
  const tensors = Array.isArray(outputs) ? (outputs as unknown[]).filter(isObject) : [];
  const tensor = tensors.find(({ name }) => name === 'text_output') ?? (tensors.length === 1 ? tensors[0] : undefined);
  const data = Array.isArray(tensor?.data) ? (tensor.data as unknown[]).flat(2) : [];
  return data.filter((each) => typeof each === 'string').join('');
}
