import type { RequestProgress } from '../engine/events.ts';
import type { ApiOptions } from './completions.ts';
import {
  badRequest,
  checkModel,
  isObject,
  parseObject,
  readCount,
  readMessages,
  type JsonObject,
} from './json-body.ts';
import { startResponse } from './openai-response.ts';
import { readPrompt } from './prompt.ts';
import type { ResponseDialect, ResponseHead, StreamTexts } from './reply.ts';
import type { StartResponse } from './route-server.ts';

type BlockType = 'thinking' | 'text' | 'tool_use';

/** What a request asks for beside text. */
interface Wanted {
  /** The first half of the tokens is thinking. */
  readonly thinks: boolean;
  /** The rest is a call of this tool; null: text. */
  readonly tool: string | null;
}

/** `POST /v1/messages`, Anthropic's API as vLLM and SGLang have it. */
export function makeMessages({ model, parameters, generations }: ApiOptions): StartResponse {
  return (body, response, ended) => {
    const request = parseObject(body);
    checkModel(request, model);
    const maxTokens = readCount(request, 'max_tokens');
    if (maxTokens === null) throw badRequest('max_tokens: Field required', 'max_tokens');
    const wanted = readWanted(request);
    const dialect: ResponseDialect = {
      stream: (head) => new MessageEvents(head, wanted),
      whole: (head, text, progress) => JSON.stringify(wholeMessage(head, text, progress, wanted)),
    };
    const { system } = request;
    const messages = readMessages(request['messages'], 'messages');
    const requested = {
      ...{ route: '/v1/messages', idPrefix: 'msg_', model, maxTokens },
      prompt: readPrompt(
        typeof system === 'string' ? [{ role: 'system', text: system }, ...messages] : messages,
        parameters.blockSize,
      ),
      stream: request['stream'] === true,
      // Its last event but one always has them.
      includeUsage: true,
    };
    startResponse(generations, requested, dialect, { response, ended });
  };
}

function readWanted({ thinking, tools, tool_choice }: JsonObject): Wanted {
  const isForced = isObject(tool_choice) && (tool_choice['type'] === 'any' || tool_choice['type'] === 'tool');
  const first: unknown = Array.isArray(tools) ? tools[0] : null;
  const name = isObject(first) && typeof first['name'] === 'string' ? first['name'] : null;
  return {
    thinks: isObject(thinking) && (thinking['type'] === 'enabled' || thinking['type'] === 'adaptive'),
    tool: isForced ? name : null,
  };
}

const thinkingTokens = ({ thinks }: Wanted, { outputTokens }: RequestProgress): number =>
  thinks ? Math.floor(outputTokens / 2) : 0;

const CALL_BEGIN = '{"text":"';
const CALL_END = '"}';

/** The events of one response: a block for thinking, one for text or for a call, each begun and ended. */
class MessageEvents implements StreamTexts {
  /** The first event comes with the first token, when the request has counts. */
  readonly opening = '';
  readonly done = event('message_stop');
  readonly #head: ResponseHead;
  readonly #wanted: Wanted;
  #tokens = 0;
  #index = -1;
  #block: BlockType | null = null;

  constructor(head: ResponseHead, wanted: Wanted) {
    this.#head = head;
    this.#wanted = wanted;
  }

  token(text: string, request: RequestProgress): string {
    const start = this.#start(request);
    const type = this.#tokens++ < thinkingTokens(this.#wanted, request) ? 'thinking' : this.#outputType;
    if (type === this.#block) return start + this.#delta(text);
    const begun = this.#end() + this.#begin(type);
    return start + begun + this.#delta(type === 'tool_use' ? CALL_BEGIN.replaceAll('"', '\\"') + text : text);
  }

  /** When the model stops by itself the last token is its stop mark: no text. */
  lastToken(text: string, request: RequestProgress): string {
    return request.finishReason === 'stop' ? this.#start(request) : this.token(text, request);
  }

  usage(request: RequestProgress): string {
    const closed = this.#block === 'tool_use' ? this.#delta(CALL_END.replaceAll('"', '\\"')) : '';
    const delta = { stop_reason: stopReason(request, this.#wanted), stop_sequence: null };
    return closed + this.#end() + event('message_delta', { delta, usage: usageOf(request, request.generatedTokens) });
  }

  get #outputType(): BlockType {
    return this.#wanted.tool === null ? 'text' : 'tool_use';
  }

  #start(request: RequestProgress): string {
    if (this.#tokens > 0) return '';
    const message = messageObject(this.#head, { content: [], stop_reason: null, usage: usageOf(request, 0) });
    return event('message_start', { message });
  }

  #begin(type: BlockType): string {
    this.#block = type;
    const content_block = block(type, '', this.#wanted);
    return event('content_block_start', { index: ++this.#index, content_block });
  }

  #end(): string {
    if (this.#block === null) return '';
    const signature = this.#block === 'thinking' ? this.#event('signature_delta', '"signature":"c2lnbmF0dXJl"') : '';
    this.#block = null;
    return signature + event('content_block_stop', { index: this.#index });
  }

  /** @param text letters, blanks and what JSON escapes already */
  #delta(text: string): string {
    switch (this.#block) {
      case 'thinking':
        return this.#event('thinking_delta', `"thinking":"${text}"`);
      case 'tool_use':
        return this.#event('input_json_delta', `"partial_json":"${text}"`);
      default:
        return this.#event('text_delta', `"text":"${text}"`);
    }
  }

  #event(type: string, member: string): string {
    const delta = `{"type":"${type}",${member}}`;
    return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":${delta}}\n\n`;
  }
}

function event(type: string, members: JsonObject = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

function block(type: BlockType, text: string, { tool }: Wanted): JsonObject {
  switch (type) {
    case 'thinking':
      return { type, thinking: text };
    case 'tool_use':
      return { type, id: 'toolu_1', name: tool, input: text === '' ? {} : { text } };
    case 'text':
      return { type, text };
  }
}

function wholeMessage(head: ResponseHead, text: string, request: RequestProgress, wanted: Wanted): JsonObject {
  const words = text.match(/ \S+/g) ?? [];
  const thought = thinkingTokens(wanted, request);
  const content = [
    ...(thought === 0 ? [] : [{ ...block('thinking', words.slice(0, thought).join(''), wanted), signature: 's' }]),
    block(wanted.tool === null ? 'text' : 'tool_use', words.slice(thought).join(''), wanted),
  ];
  const usage = usageOf(request, request.generatedTokens);
  return messageObject(head, { content, stop_reason: stopReason(request, wanted), usage });
}

function messageObject({ id, model }: ResponseHead, members: JsonObject): JsonObject {
  return { id, type: 'message', role: 'assistant', model, stop_sequence: null, ...members };
}

function stopReason({ finishReason }: RequestProgress, { tool }: Wanted): string {
  if (finishReason === 'length') return 'max_tokens';
  return tool === null ? 'end_turn' : 'tool_use';
}

/** `input_tokens` are those that were not read from the cache. */
function usageOf({ promptTokens, cachedTokens }: RequestProgress, output_tokens: number): JsonObject {
  return { input_tokens: promptTokens - cachedTokens, cache_read_input_tokens: cachedTokens, output_tokens };
}
