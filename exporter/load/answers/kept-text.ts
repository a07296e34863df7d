import type { AnswerText, Endpoint } from '../endpoints/endpoint.ts';

/** The text of one response, assembled from its events. */
export class KeptText {
  readonly #endpoint: Endpoint;
  #output = '';
  #reasoning = '';

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** Adds the JSON of the next event, or of the whole response. `cumulative`: the event repeats the text so far. */
  take(json: unknown, cumulative: boolean): void {
    const { output, reasoning } = this.#endpoint.text(json);
    this.#output = joined(this.#output, output, cumulative);
    this.#reasoning = joined(this.#reasoning, reasoning, cumulative);
  }

  get text(): AnswerText {
    return { output: this.#output, reasoning: this.#reasoning };
  }
}

/** A server whose events may repeat the text may also send only the new part: the text itself decides. */
function joined(before: string, text: string, cumulative: boolean): string {
  return cumulative && text.startsWith(before) ? text : before + text;
}
