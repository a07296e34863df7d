import type { StreamTexts } from '../http/answer-texts.ts';

/** The JSON of one response of the generate extension. */
export function generateAnswer(model: string, text: string): string {
  return JSON.stringify({ model_name: model, model_version: '1', text_output: text });
}

export function errorAnswer(message: string): string {
  return JSON.stringify({ error: message });
}

/** `generate_stream`: one event per token, no usage, and no mark at the end but the end. */
export class TritonStreamTexts implements StreamTexts {
  readonly opening = '';
  readonly done = '';
  readonly #beforeText: string;

  constructor(model: string) {
    this.#beforeText = `data: ${generateAnswer(model, '').slice(0, -2)}`;
  }

  token(text: string): string {
    return `${this.#beforeText}${text}"}\n\n`;
  }

  lastToken(text: string): string {
    return this.token(text);
  }

  usage(): string {
    return '';
  }
}
