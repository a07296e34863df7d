import {
  type Endpoint,
  type EventMeaning,
  type GenerationOptions,
  type GenerationRequest,
  isObject,
  type JsonObject,
  NO_TEXT,
  errorMessage,
} from './endpoint.ts';
import { openAiUsage, tokenCount } from './openai-choices.ts';
import { bodyText, plainText } from './openai.ts';

/** What differs between the APIs that read texts and generate none. */
interface PoolingApi {
  readonly type: string;
  readonly path: string;
  /** `texts`: each is a document; `ranking`: documents are compared with a query. */
  readonly takes: 'texts' | 'ranking';
  /** The fields of the body that contain the texts. */
  readonly fields: readonly string[];
  readonly input: (request: GenerationRequest) => JsonObject;
  /** The list in the response, with an entry per document. */
  readonly results: string;
  /** Whether an entry has its result. */
  readonly isResult: (entry: JsonObject) => boolean;
}

const texts = (request: GenerationRequest): readonly string[] => request.documents ?? [plainText(request)];

/** A list, or the text itself if there is only one. */
const oneOrMore = (all: readonly string[]): string | readonly string[] => (all.length === 1 ? (all[0] ?? '') : all);

/** Numbers, lists of them (a vector per token), or with `encoding_format: base64` a string. */
const isVector = (value: unknown): boolean => (Array.isArray(value) || typeof value === 'string') && value.length > 0;

/** OpenAI's `/v1/embeddings`: a vector per text. */
export const embeddings = poolingEndpoint({
  type: 'embeddings',
  path: '/v1/embeddings',
  takes: 'texts',
  fields: ['input'],
  input: (request) => ({ input: oneOrMore(texts(request)) }),
  results: 'data',
  isResult: ({ embedding }) => isVector(embedding),
});

/** vLLM's `/pooling`: what the pooler of the model makes of each text. */
export const pooling = poolingEndpoint({
  type: 'pooling',
  path: '/pooling',
  takes: 'texts',
  fields: ['input'],
  input: (request) => ({ input: oneOrMore(texts(request)) }),
  results: 'data',
  isResult: ({ data }) => isVector(data),
});

/** vLLM's `/score`: how well each document answers the query. */
export const score = poolingEndpoint({
  type: 'score',
  path: '/score',
  takes: 'ranking',
  fields: ['text_1', 'text_2'],
  input: (request) => ({ text_1: request.prompt, text_2: request.documents ?? [] }),
  results: 'data',
  isResult: ({ score: value }) => typeof value === 'number',
});

/** `/rerank` as Cohere, Jina and vLLM have it: the documents in the order of their relevance, or the first of them. */
export const rerank = poolingEndpoint({
  type: 'rerank',
  path: '/v1/rerank',
  takes: 'ranking',
  fields: ['query', 'documents'],
  input: (request) => ({ query: request.prompt, documents: request.documents ?? [] }),
  results: 'results',
  // SGLang calls it `score`.
  isResult: ({ relevance_score, score: value }) => typeof (relevance_score ?? value) === 'number',
});

/** Hugging Face's TEI: the texts in the order of their relevance. A server has one model, which no field names. */
export const teiRerank = poolingEndpoint({
  type: 'tei_rerank',
  path: '/rerank',
  takes: 'ranking',
  fields: ['query', 'texts'],
  input: (request) => ({ model: undefined, query: request.prompt, texts: request.documents ?? [] }),
  results: 'results',
  isResult: ({ score: value }) => typeof value === 'number',
});

/** NVIDIA's NIM for rerankers: the passages in the order of their relevance, which has no bounds. */
export const nimRanking = poolingEndpoint({
  type: 'nim_ranking',
  path: '/v1/ranking',
  takes: 'ranking',
  fields: ['query', 'passages'],
  input: (request) => ({
    query: { text: request.prompt },
    passages: request.documents?.map((text) => ({ text })) ?? [],
  }),
  results: 'rankings',
  isResult: ({ logit }) => typeof logit === 'number',
});

/** One JSON response without output tokens, and with a result for each document. */
function poolingEndpoint({ type, path, takes, fields, input, results, isResult }: PoolingApi): Endpoint {
  return {
    type,
    path,
    takes,
    ownFields: ['model', ...fields],
    lengthField: null,
    modes: ['whole'],
    wholeBy: 'body',
    generates: false,
    variableKeys: new Set(),

    body(request: GenerationRequest, options: GenerationOptions): string {
      const { model, sampling } = options;
      const { payload } = request;
      return bodyText(
        payload === undefined ? { ...sampling, model, ...input(request) } : { model, ...sampling, ...payload },
        options,
      );
    },

    documents({ payload, documents }: GenerationRequest): number {
      const given = payload === undefined ? documents : payload[fields.at(-1) ?? ''];
      return Array.isArray(given) && typeof given[0] !== 'number' ? given.length : 1;
    },

    interpret: (): EventMeaning | null => null,

    interpretWhole(response: unknown): EventMeaning | null {
      // Rerank of SGLang and TEI is the list alone.
      const body: JsonObject | null = Array.isArray(response)
        ? { [results]: response }
        : isObject(response)
          ? response
          : null;
      if (body === null) return null;
      const error = errorMessage(body);
      const list = body[results];
      if (error === null && !Array.isArray(list)) return null;
      const entries = Array.isArray(list) ? (list as unknown[]) : [];
      return {
        content: entries.length > 0 && entries.every((entry) => isObject(entry) && isResult(entry)),
        finishReason: null,
        usage: usageOf(body),
        error,
      };
    },

    text: () => NO_TEXT,
  };
}

/** OpenAI's usage, or Cohere's `meta`. Some servers report `completion_tokens: 0`; there are no output tokens. */
function usageOf(response: JsonObject): EventMeaning['usage'] {
  const reported = openAiUsage(response.usage);
  if (reported !== null) return { ...reported, output_tokens: null, reasoning_tokens: null };
  const usage = isObject(response.usage) ? response.usage : {};
  const meta = isObject(response.meta) ? response.meta : {};
  const units = isObject(meta.tokens) ? meta.tokens : isObject(meta.billed_units) ? meta.billed_units : {};
  const input_tokens = tokenCount(units.input_tokens) ?? tokenCount(usage.total_tokens);
  return input_tokens === null
    ? null
    : { input_tokens, output_tokens: null, reasoning_tokens: null, cached_tokens: null };
}
