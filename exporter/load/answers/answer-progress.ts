import type { EventMeaning, Usage } from '../endpoints/endpoint.ts';

/** What arrived with an event: text that is not reasoning, reasoning, or a step whose text is not known (yet). */
export type Arrival = 'output' | 'reasoning' | 'step';

/** The state of a response, event by event: the server's count so far, and what each event added. */
export class AnswerProgress {
  readonly #addsUsage: boolean;
  #usage: Usage | null = null;
  #progress = 0;

  /** `addsUsage`: the output tokens of each event are those since the previous event. */
  constructor(addsUsage: boolean) {
    this.#addsUsage = addsUsage;
  }

  /** The server's latest count; with `addsUsage`, the sum. */
  get usage(): Usage | null {
    return this.#usage;
  }

  /** Processes the next event; null when it carried no generated output. */
  take(meaning: EventMeaning): Arrival | null {
    const before = this.#usage?.output_tokens ?? null;
    this.#count(meaning.usage);
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

  #count(reported: Usage | null): void {
    if (reported === null) return;
    const before = this.#usage;
    this.#usage = this.#addsUsage
      ? {
          input_tokens: reported.input_tokens ?? before?.input_tokens ?? null,
          output_tokens: sum(before?.output_tokens ?? null, reported.output_tokens),
          reasoning_tokens: sum(before?.reasoning_tokens ?? null, reported.reasoning_tokens),
          cached_tokens: reported.cached_tokens ?? before?.cached_tokens ?? null,
        }
      : reported;
  }
}

/** For an event with content. */
export function kindOf({ reasoning }: EventMeaning): 'output' | 'reasoning' {
  return reasoning === true ? 'reasoning' : 'output';
}

function sum(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b;
}
