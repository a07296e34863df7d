import type { PhaseName } from '../../core/run/record.ts';
import type { Conversation, Dataset } from './datasets/dataset.ts';
import type { Endpoint, GenerationOptions, GenerationRequest } from './endpoints/endpoint.ts';
import type { TransportRequest } from './transport.ts';

const MOST_BYTES_AHEAD = 16 * 2 ** 20;
/** How many requests are made between two turns of the event loop. */
const BATCH = 8;

/** How the requests of a run are written. */
export interface RequestForm {
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dataset: Dataset;
  readonly options: GenerationOptions;
  /** Counts the output tokens of answers whose server tells no number; absent: they stay unknown. */
  readonly countTokens?: (text: string) => number;
}

export interface ReadyRequest {
  /** Position in the phase, from 0. */
  readonly position: number;
  readonly max_tokens: number;
  /** What a tokenizer on this side counted. */
  readonly counted?: { readonly input_tokens?: number };
  readonly request: TransportRequest;
  /** The next turn of the conversation, once the answer to this one is known; absent: there is none. */
  readonly nextTurn?: (answer: string) => NextTurn;
}

export interface NextTurn {
  /** How long the user takes after the answer. */
  readonly delaySeconds: number;
  readonly ready: ReadyRequest;
}

/**
 * The requests of one phase in order, or the first turns of its conversations, each of which takes as many positions as it
 * has turns;  written some ahead while the loop is idle so that sending one costs no more.
 */
export class RequestFeed {
  readonly #form: RequestForm;
  readonly #phase: PhaseName;
  readonly #count: number;
  readonly #ahead: number;
  #ready: ReadyRequest[] = [];
  #readyBytes = 0;
  #next = 0;
  #conversations = 0;
  #scheduled = false;

  /** `count`: how many there are, null without end; `ahead`: how many to hold ready. */
  constructor(form: RequestForm, phase: PhaseName, count: number | null, ahead: number) {
    this.#form = form;
    this.#phase = phase;
    this.#count = count ?? Infinity;
    this.#ahead = ahead;
    while (this.#wantsMore()) this.#hold();
  }

  /** The next request; null after the last. */
  take(): ReadyRequest | null {
    const ready = this.#ready.shift();
    if (ready === undefined) return this.#next < this.#count ? this.#make() : null;
    this.#readyBytes -= size(ready);
    if (!this.#scheduled && this.#wantsMore()) this.#schedule();
    return ready;
  }

  /** How many positions have been given out, those of turns to come included. */
  get positions(): number {
    return this.#ready[0]?.position ?? this.#next;
  }

  /** Whether the last request has been taken. */
  get exhausted(): boolean {
    return this.#ready.length === 0 && this.#next >= this.#count;
  }

  #wantsMore(): boolean {
    return this.#next < this.#count && this.#ready.length < this.#ahead && this.#readyBytes < MOST_BYTES_AHEAD;
  }

  #schedule(): void {
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      for (let i = 0; i < BATCH && this.#wantsMore(); i++) this.#hold();
      if (this.#wantsMore()) this.#schedule();
    });
  }

  #hold(): void {
    const ready = this.#make();
    this.#readyBytes += size(ready);
    this.#ready.push(ready);
  }

  #make(): ReadyRequest {
    const position = this.#next;
    const conversation = this.#form.dataset.conversation?.(this.#phase, this.#conversations++);
    if (conversation === undefined) {
      this.#next++;
      return this.#written(this.#form.dataset.request(this.#phase, position), position);
    }
    // The last conversation is cut where the requests end.
    const turns = Math.min(conversation.turns, this.#count - position);
    this.#next += turns;
    return this.#turn({ conversation, turns, position }, []);
  }

  #turn(place: ConversationPlace, answers: readonly string[]): ReadyRequest {
    const { conversation, turns, position } = place;
    const turn = answers.length;
    const ready = this.#written(conversation.request(turn, answers), position + turn);
    if (turn + 1 >= turns) return ready;
    const delaySeconds = conversation.delaySeconds(turn + 1);
    return { ...ready, nextTurn: (answer) => ({ delaySeconds, ready: this.#turn(place, [...answers, answer]) }) };
  }

  #written(generation: GenerationRequest, position: number): ReadyRequest {
    const { path, headers, endpoint, options } = this.#form;
    const { max_tokens, input_tokens } = generation;
    const counted = input_tokens === undefined ? {} : { input_tokens };
    const body = endpoint.body(generation, options);
    return { position, max_tokens, counted, request: { method: 'POST', path, headers, body } };
  }
}

/** A conversation, how many of its turns are sent, and the position of the first. */
interface ConversationPlace {
  readonly conversation: Conversation;
  readonly turns: number;
  readonly position: number;
}

function size(ready: ReadyRequest): number {
  return ready.request.body?.length ?? 0;
}
