import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import { StreamReply, WholeReply, type ResponseDialect, type ResponseHead } from './reply.ts';
import type { Generations } from './generations.ts';
import type { ResponseForm } from './json-body.ts';
import type { Prompt } from './prompt.ts';

/** What a request of any of the OpenAI APIs specifies. */
export interface ResponseRequest extends ResponseForm {
  /** Path of the API, as servers count it. */
  readonly route: string;
  /** What the id of the response begins with. */
  readonly idPrefix: string;
  readonly model: string;
  readonly prompt: Prompt;
  /** Null: the model ends by itself. */
  readonly maxTokens: number | null;
}

/** The response that is answered, and what is called when that has been done or the client has gone before. */
export interface Answering {
  readonly response: ServerResponse;
  readonly ended: () => void;
}

/**
 * Starts a response as the dialect words it: a stream, or one JSON object.
 *
 * @throws ApiError when the request does not fit the model
 */
export function startResponse(
  generations: Generations,
  request: ResponseRequest,
  dialect: ResponseDialect,
  { response, ended }: Answering,
): void {
  const { route, idPrefix, model, prompt, maxTokens, stream, includeUsage } = request;
  const id = `${idPrefix}${randomUUID().replaceAll('-', '')}`;
  const { mediaTokens } = prompt;
  const created = Math.floor(Date.now() / 1000);
  const head: ResponseHead = { id, created, model, ...(mediaTokens && { mediaTokens }) };
  generations.start({
    ...{ id, route, prompt, maxTokens, streaming: stream, response, ended },
    makeReply: (parts) => {
      response.setHeader('x-request-id', id);
      if (!stream) {
        return new WholeReply({ ...parts, answer: (content, request) => dialect.whole(head, content, request) });
      }
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      const texts = dialect.stream(head, includeUsage);
      if (texts.announcement === undefined) response.flushHeaders();
      else response.write(texts.announcement);
      return new StreamReply({ ...parts, texts, includeUsage });
    },
  });
}

/** The response of `GET /v1/models` for one model, as vLLM gives it. */
export function modelList(id: string, maxModelLen: number, ownedBy: string): string {
  const created = Math.floor(Date.now() / 1000);
  const model = {
    id,
    object: 'model',
    created,
    owned_by: ownedBy,
    root: id,
    parent: null,
    max_model_len: maxModelLen,
    permission: [],
  };
  return JSON.stringify({ object: 'list', data: [model] });
}
