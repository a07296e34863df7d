import type { EngineParameters } from '../engine/parameters.ts';
import type { AnswerDialect } from './answer-texts.ts';
import { readChatRequest } from './chat-request.ts';
import type { Generations } from './generations.ts';
import { startAnswer } from './openai-answer.ts';
import { readPrompt } from './prompt.ts';
import type { StartAnswer } from './route-server.ts';

/** What an API is made of. */
export interface ApiOptions {
  readonly model: string;
  readonly parameters: EngineParameters;
  readonly generations: Generations;
}

/** `POST /v1/chat/completions`. */
export function makeChatCompletions(
  { model, parameters, generations }: ApiOptions,
  dialect: AnswerDialect,
): StartAnswer {
  return (body, response, ended) => {
    const { messages, ...form } = readChatRequest(body, model);
    const prompt = readPrompt(messages, parameters.blockSize);
    const api = { route: '/v1/chat/completions', idPrefix: 'chatcmpl-', model, prompt };
    startAnswer(generations, { ...form, ...api }, dialect, { response, ended });
  };
}
