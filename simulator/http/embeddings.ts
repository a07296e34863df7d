import { randomUUID } from 'node:crypto';

import { badRequest, checkModel, parseObject, readCount, readText } from './json-body.ts';
import type { ApiOptions } from './completions.ts';
import { readPlainPrompt } from './prompt.ts';
import { WholeReply } from './reply.ts';
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
        const counts = { prompt_tokens: prompt.tokens, total_tokens: prompt.tokens, completion_tokens: 0 };
        const usage = { ...counts, prompt_tokens_details: null };
        const json = JSON.stringify({ id, object: 'list', created, model, data, usage });
        return new WholeReply({ ...parts, answer: () => json });
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
