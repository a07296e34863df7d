import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import type { EngineParameters } from '../engine/parameters.ts';
import type { AnswerDialect } from './answer-texts.ts';
import { readChatRequest } from './chat-request.ts';
import type { Generations } from './generations.ts';
import { readPrompt } from './prompt.ts';
import { StreamReply } from './stream-reply.ts';
import { WholeReply } from './whole-reply.ts';

interface CompletionsOptions {
  readonly model: string;
  readonly parameters: EngineParameters;
  readonly generations: Generations;
  readonly answers: AnswerDialect;
}

/** `POST /v1/chat/completions`. */
export class Completions {
  readonly #options: CompletionsOptions;

  constructor(options: CompletionsOptions) {
    this.#options = options;
  }

  /**
   * Starts an answer.
   *
   * @param ended called when the answer is complete, or the client has gone before
   * @throws ApiError when the request is refused
   */
  handle(body: string, response: ServerResponse, ended: () => void): void {
    // The client went away while its request was read.
    if (response.destroyed) return;
    const { model, parameters, generations, answers } = this.#options;
    const chat = readChatRequest(body, model);
    const prompt = readPrompt(chat.messages, parameters.blockSize);
    const id = `chatcmpl-${randomUUID().replaceAll('-', '')}`;
    const head = { id, created: Math.floor(Date.now() / 1000), model };
    generations.start({
      id,
      prompt,
      maxTokens: chat.maxTokens,
      streaming: chat.stream,
      response,
      ended,
      makeReply: (parts) => {
        response.setHeader('x-request-id', id);
        if (!chat.stream) {
          return new WholeReply({ ...parts, answer: (content, request) => answers.whole(head, content, request) });
        }
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
        response.flushHeaders();
        return new StreamReply({ ...parts, texts: answers.stream(head), includeUsage: chat.includeUsage });
      },
    });
  }
}
