import type { ResponseText, Endpoint } from '../endpoints/endpoint.ts';

/** The text of one response, assembled from its events. */
export class KeptText {
  readonly #endpoint: Endpoint;
  readonly #several: boolean;
  readonly #output = new JoinedText();
  readonly #reasoning = new JoinedText();

  constructor(endpoint: Endpoint, several: boolean) {
    this.#endpoint = endpoint;
    this.#several = several;
  }

  /** Adds the JSON of the next event, or of the whole response. `cumulative`: the event repeats the text so far. */
  take(json: unknown, cumulative: boolean): void {
    const { output, reasoning } = this.#endpoint.text(json, this.#several);
    this.#output.add(output, cumulative);
    this.#reasoning.add(reasoning, cumulative);
  }

  get text(): ResponseText {
    return { output: this.#output.text, reasoning: this.#reasoning.text };
  }
}

/** Fewer pieces may begin with the previous one by chance. */
const MIN_LONGER_PIECES = 3;

/** Pieces of text, each the next part or, from some servers, all of it so far. */
class JoinedText {
  #joined = '';
  #last = '';
  #longer = 0;
  #repeats = true;

  /** A server whose events may repeat the text may also send only the new part: the text itself decides. */
  add(piece: string, cumulative: boolean): void {
    if (piece === '') return;
    this.#repeats &&= piece.startsWith(this.#last);
    if (piece.length > this.#last.length) this.#longer += 1;
    this.#last = piece;
    this.#joined = cumulative && piece.startsWith(this.#joined) ? piece : this.#joined + piece;
  }

  get text(): string {
    return this.#repeats && this.#longer > MIN_LONGER_PIECES ? this.#last : this.#joined;
  }
}
