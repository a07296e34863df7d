import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import type { FinishedEvent } from '../engine/events.ts';
import { ApiError, badRequest, checkModel, parseObject, readCount, readText, sendJson } from './json-body.ts';
import type { ApiOptions } from './completions.ts';
import type { Reply } from './engine-driver.ts';
import type { ReplyParts } from './generations.ts';
import { readPlainPrompt } from './prompt.ts';
import type { StartResponse } from './route-server.ts';

const DIMENSIONS = 1024;

/** `POST /v1/embeddings`, as a server of an embedding model has it: the engine computes the text and generates nothing. */
export function makeEmbeddings({ model, parameters, generations }: ApiOptions): StartResponse {
  return (body, response, ended) => {
    const request = parseObject(body);
    checkModel(request, model);
    const dimensions = readCount(request, 'dimensions') ?? DIMENSIONS;
    const format = request['encoding_format'] ?? 'float';
    if (format !== 'float' && format !== 'base64') {
      throw badRequest(`encoding_format must be float or base64, got ${JSON.stringify(format)}.`, 'encoding_format');
    }
    const prompt = readPlainPrompt(readText(request, 'input'), parameters.blockSize);
    const id = `embd-${randomUUID().replaceAll('-', '')}`;
    const created = Math.floor(Date.now() / 1000);
    generations.start({
      ...{ id, route: '/v1/embeddings', prompt, maxTokens: 0, streaming: false, response, ended },
      makeReply: (parts) => {
        response.setHeader('x-request-id', id);
        const embedding = vector(prompt.tokens, dimensions);
        const data = [{ index: 0, object: 'embedding', embedding: format === 'float' ? embedding : base64(embedding) }];
        const { tokens } = prompt;
        const usage = {
          prompt_tokens: tokens,
          total_tokens: tokens,
          completion_tokens: 0,
          prompt_tokens_details: null,
        };
        return new EmbeddingReply(parts, JSON.stringify({ id, object: 'list', created, model, data, usage }));
      },
    });
  };
}

/** A vector of length 1: the same for texts of the same length. It means nothing. */
function vector(seed: number, dimensions: number): number[] {
  const raw = Array.from({ length: dimensions }, (_, i) => Math.sin(seed + i + 1));
  const length = Math.hypot(...raw);
  return raw.map((value) => value / length);
}

function base64(values: readonly number[]): string {
  return Buffer.from(Float32Array.from(values).buffer).toString('base64');
}

/** Sends the response when the engine has computed the text. */
class EmbeddingReply implements Reply {
  readonly #parts: ReplyParts;
  readonly #answer: string;
  #finished: FinishedEvent | null = null;

  constructor(parts: ReplyParts, answer: string) {
    this.#parts = parts;
    this.#answer = answer;
  }

  token(): void {
    throw new Error('an embedding has no tokens');
  }

  finished(event: FinishedEvent): void {
    this.#parts.truth.outcome = 'finished';
    this.#finished = event;
  }

  flush(): void {
    this.#send(200, this.#finished === null ? null : this.#answer);
  }

  failed(): void {
    this.#parts.truth.outcome = 'aborted';
    this.#send(500, new ApiError(500, 'InternalServerError', 'Internal server error').body());
  }

  #send(status: number, json: string | null): void {
    const response: ServerResponse = this.#parts.response;
    if (json === null || response.destroyed) return;
    sendJson(response, status, json);
    this.#parts.ended();
  }
}
