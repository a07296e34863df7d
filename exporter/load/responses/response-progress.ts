import type { EventMeaning, Usage, ResponseText, Endpoint } from '../endpoints/endpoint.ts';

/** What arrived with an event: text that is not reasoning, reasoning, or a step whose text is not known (yet). */
export type Arrival = 'output' | 'reasoning' | 'step';

/** The state of a response, event by event: the server's count so far, and what each event added. */
export class ResponseProgress {
  readonly #addsUsage: boolean;
  readonly #perChunk: UsagePerChunk;
  #usage: Usage | null = null;
  #progress = 0;

  /** `addsUsage`: the output tokens of each event are those since the previous event. */
  constructor(addsUsage: boolean, requested_output_tokens: number) {
    this.#addsUsage = addsUsage;
    this.#perChunk = new UsagePerChunk(requested_output_tokens);
  }

  /** The server's count: each field's latest, or the sum of the events when each counts only its own tokens. */
  get usage(): Usage | null {
    return this.#usage === null || this.#addsUsage ? this.#usage : this.#perChunk.applied(this.#usage);
  }

  /** Processes the next event; null when it carried no generated output. */
  take(meaning: EventMeaning): Arrival | null {
    const before = this.#usage?.output_tokens ?? null;
    if (meaning.usage !== null) {
      this.#count(meaning.usage);
      // A server whose events repeat the text so far counts the tokens so far.
      if (meaning.progress === undefined) this.#perChunk.take(meaning.usage, meaning.content);
    }
    const movedOn = meaning.progress === undefined || meaning.progress > this.#progress;
    this.#progress = Math.max(this.#progress, meaning.progress ?? 0);
    if (meaning.content) return movedOn ? kindOf(meaning) : null;
    return meaning.emptyStep === true && this.#tokensGrew(before) ? 'step' : null;
  }

  #tokensGrew(before: number | null): boolean {
    const now = this.#usage?.output_tokens ?? null;
    if (now === null) return false;
    return this.#addsUsage ? now > (before ?? 0) : before !== null && now > before;
  }

  #count(reported: Usage): void {
    const before = this.#usage;
    const tokens = this.#addsUsage ? sum : latest;
    this.#usage = {
      ...before,
      ...reported,
      // A later report may leave out the cached tokens of the prompt.
      input_tokens: larger(before?.input_tokens ?? null, reported.input_tokens),
      output_tokens: tokens(before?.output_tokens ?? null, reported.output_tokens),
      reasoning_tokens: tokens(before?.reasoning_tokens ?? null, reported.reasoning_tokens),
      cached_tokens: latest(before?.cached_tokens ?? null, reported.cached_tokens),
    };
  }
}

/** Fewer reports that each may be the whole count decide nothing. */
const MIN_REPORTS = 4;

/**
 * Recognizes usage that counts only its own chunk. A count of all tokens so far grows with every chunk that has content
 * and never falls; where it mostly does not, it is one of its chunk.
 */
class UsagePerChunk {
  readonly #requested: number;
  #reports = 0;
  #notGrown = 0;
  #fell = false;
  #isConstant = true;
  #last = 0;
  #sum = 0;
  #reasoning: number | null = null;
  /** Tokens of the reports before one without content, which may be the total. */
  #sumBeforeEnd = 0;
  #end: number | null = null;

  constructor(requested_output_tokens: number) {
    this.#requested = requested_output_tokens;
  }

  take({ output_tokens: tokens, reasoning_tokens: reasoning }: Usage, hasContent: boolean): void {
    if (tokens === null || tokens === 0) return;
    this.#sumBeforeEnd = this.#sum;
    this.#sum += tokens;
    this.#reasoning = sum(this.#reasoning, reasoning);
    this.#end = hasContent ? null : tokens;
    if (!hasContent) return;
    if (this.#reports > 0) {
      if (tokens <= this.#last) this.#notGrown += 1;
      if (tokens < this.#last) this.#fell = true;
      if (tokens !== this.#last) this.#isConstant = false;
    }
    this.#reports += 1;
    this.#last = tokens;
  }

  /** The usage that the reports mean; without output tokens when they may mean either. */
  applied(latestUsage: Usage): Usage {
    if (this.#reports < 2 || (!this.#fell && this.#notGrown * 2 < this.#reports - 1)) return latestUsage;
    if (this.#end !== null && this.#end >= this.#sumBeforeEnd) return latestUsage;
    if (this.#last < this.#reports || this.#fell)
      return { ...latestUsage, output_tokens: this.#sum, reasoning_tokens: this.#reasoning };
    const isOpen = this.#isConstant && this.#reports >= MIN_REPORTS && this.#sum <= this.#requested;
    return isOpen ? { ...latestUsage, output_tokens: null, reasoning_tokens: null } : latestUsage;
  }
}

/** For an event with content. */
export function kindOf({ reasoning }: EventMeaning): 'output' | 'reasoning' {
  return reasoning === true ? 'reasoning' : 'output';
}

/** A count that is missing or zero does not replace one. */
function latest(before: number | null, now: number | null): number | null {
  return now === null || (now === 0 && before !== null) ? before : now;
}

const larger = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

function sum(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b;
}

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
