import { readPlainPrompt, readPrompt } from '../../http/prompt.ts';
import type { Prompt } from '../../http/prompt.ts';

/** A refusal by the gateway itself, before any worker is called. */
export class GatewayError extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | null;

  constructor(status: number, code: string, message: string, param: string | null = null) {
    super(message);
    this.name = 'GatewayError';
    this.status = status;
    this.code = code;
    this.param = param;
  }

  body(): string {
    const { message, param, code } = this;
    return JSON.stringify({ error: { message, type: 'invalid_request_error', param, code } });
  }
}

/** What the gateway itself looks at in a body; the rest is the worker's to judge. */
export interface GatewayRequest {
  readonly model: string | null;
  readonly streaming: boolean;
  readonly prompt: Prompt;
}

type Json = Record<string, unknown>;

/** @throws GatewayError 400 for a body that is no JSON object or asks for less than one token */
export function readGatewayRequest(body: string, blockSize: number): GatewayRequest {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError(
      400,
      'invalid_json',
      `JSON syntax error: Failed to parse the request body as JSON: ${reason}`,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new GatewayError(400, 'invalid_json', 'The request body is not a JSON object');
  }
  const json = value as Json;
  for (const key of ['max_tokens', 'max_completion_tokens']) {
    if (typeof json[key] === 'number' && json[key] < 1) {
      throw new GatewayError(400, 'integer_below_min_value', `${key}: must be at least 1`, key);
    }
  }
  const model = typeof json['model'] === 'string' ? json['model'] : null;
  return { model, streaming: json['stream'] === true, prompt: promptOf(json, blockSize) };
}

function promptOf(json: Json, blockSize: number): Prompt {
  const plain = [json['text'], json['prompt'], json['input']].find((text) => typeof text === 'string');
  if (plain !== undefined) return readPlainPrompt(plain, blockSize);
  const messages: unknown[] = Array.isArray(json['messages']) ? json['messages'] : [];
  const read = messages.map((message) => {
    const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown };
    return {
      role: typeof role === 'string' ? role : '',
      text: typeof content === 'string' ? content : JSON.stringify(content ?? ''),
    };
  });
  return readPrompt(read, blockSize);
}
