import type { ConversationPlace, LoadPhase } from '../../../core/run/record.ts';
import type { Conversation, Dataset } from '../datasets/dataset.ts';
import type { Endpoint, GenerationOptions, GenerationRequest } from '../endpoints/endpoint.ts';
import { mediaBytes, type Media } from '../media/media-urls.ts';
import { audioSeconds } from '../media/synthetic-audio.ts';
import type { TransportRequest } from '../transports/transport.ts';
import { type Share, WHOLE } from '../workers/share.ts';
import { newTrace } from './trace-context.ts';

/** Assigns the numbers of a phase's requests (or conversations) to their senders: each number once. */
export interface Deal {
  /** The next number. */
  next(): number;
  /** The next number, as far as it is known without taking it: never more than `next` returns. */
  peek(): number;
  /**
   * This many numbers at the end are taken only when they can be sent immediately, so that no sender holds a request
   * that another could send.
   */
  readonly onDemand: number;
}

/** The numbers of a share, in order: for requests with due times. */
export class FixedDeal implements Deal {
  readonly onDemand = 0;
  readonly #parts: number;
  #next: number;

  constructor({ part, parts }: Share) {
    this.#next = part;
    this.#parts = parts;
  }

  next(): number {
    const next = this.#next;
    this.#next += this.#parts;
    return next;
  }

  peek(): number {
    return this.#next;
  }
}

/**
 * Any sender with a free slot takes the next number of the share: for closed loops. `dealt[cell]` counts the numbers
 * taken, in memory that several workers share.
 */
export class SharedDeal implements Deal {
  readonly onDemand: number;
  readonly #share: Share;
  readonly #dealt: Int32Array;
  readonly #cell: number;

  constructor(share: Share, dealt: Int32Array, cell: number, onDemand: number) {
    this.#share = share;
    this.#dealt = dealt;
    this.#cell = cell;
    this.onDemand = onDemand;
  }

  next(): number {
    return this.#number(Atomics.add(this.#dealt, this.#cell, 1));
  }

  peek(): number {
    return this.#number(Atomics.load(this.#dealt, this.#cell));
  }

  #number(taken: number): number {
    return this.#share.part + this.#share.parts * taken;
  }
}

const MAX_BYTES_AHEAD = 16 * 2 ** 20;
/** Number of requests written between two turns of the event loop. */
const BATCH = 8;
/** After so many bytes of bodies, such as one with images, others have their turn of it first. */
const BATCH_BYTES = 256 * 1024;

/** How the requests of a run are written. */
export interface RequestForm {
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dataset: Dataset;
  readonly options: GenerationOptions;
  /** Counts the output tokens of responses when the server reports no count; absent: they stay unknown. */
  readonly countTokens?: (text: string) => number;
  /** Counts them also when the server reports a count; absent: no. */
  readonly checkUsage?: boolean;
  /** Part of the requests, above 0 and at most 1, for which the server is to record a trace; absent: no word of traces. */
  readonly traceSampleRatio?: number;
}

/** What the client counts of a request. */
export interface CountedRequest {
  /** As the client's tokenizer counts them; absent: not counted. */
  readonly input_tokens?: number;
  /** Texts that are embedded, scored or ranked; absent: the response is generated. */
  readonly documents?: number;
  /** Images, and their bytes (null: an image is an address); absent: no requests have images. */
  readonly images?: number;
  readonly image_bytes?: number | null;
  /** Length and bytes of audio (null: not known); absent: no requests have audio. */
  readonly audio_ns?: number | null;
  readonly audio_bytes?: number | null;
  /** Of the body; absent: not counted. */
  readonly request_bytes?: number;
}

export interface ReadyRequest {
  /** Position in the phase, from 0. */
  readonly position: number;
  readonly max_tokens: number;
  readonly counted?: CountedRequest;
  readonly request: TransportRequest;
  /** Choices that a dataset's payload asks for; absent: one. */
  readonly choices?: number;
  /** One of several models; absent: the run has one. */
  readonly model?: string;
  /** Null or absent: the server is not to record it. */
  readonly trace_id?: string | null;
  /** The conversation that it is part of; absent: it is a request of its own. */
  readonly of?: { readonly conversation: ConversationProgress; readonly number: number };
}

/** A further request of a conversation. */
export interface NextTurn {
  readonly ready: ReadyRequest;
  readonly due_ns: number;
}

/** A conversation of which some requests were sent: what may be sent next. */
export class ConversationProgress {
  /** Requests that are in flight, or wait to be sent. */
  open = 1;
  /** A request was not answered: the conversation ends with those that are in flight. */
  failed = false;
  /** Position in the phase of its first request. */
  readonly position: number;
  /** How many of its requests are sent: all, unless the phase ends before. */
  readonly count: number;
  readonly #conversation: Conversation;
  readonly #write: (number: number, generation: GenerationRequest) => ReadyRequest;
  /** By request, those that wait for its response; the last entry: those that wait for none. */
  readonly #followers: (number[] | undefined)[] = [];
  readonly #responses: (string | undefined)[] = [];
  readonly #ends_ns: number[] = [];
  #start_ns = 0;

  constructor(
    conversation: Conversation,
    { position, count }: { readonly position: number; readonly count: number },
    write: (of: NonNullable<ReadyRequest['of']>, generation: GenerationRequest) => ReadyRequest,
  ) {
    this.#conversation = conversation;
    this.position = position;
    this.count = count;
    this.#write = (number, generation) => write({ conversation: this, number }, generation);
    for (let number = 1; number < count; number++) {
      const { after } = conversation.place(number);
      for (const earlier of after.length === 0 ? [count] : after) (this.#followers[earlier] ??= []).push(number);
    }
  }

  /** Its first request. */
  first(): ReadyRequest {
    return this.#write(0, this.#conversation.request(0, []));
  }

  /** The conversation has begun: the requests that wait for no response. */
  begun(due_ns: number): readonly NextTurn[] {
    this.#start_ns = due_ns;
    return this.#next(this.count);
  }

  /** A response has ended: the requests that waited for it, and for no other that is still to come. */
  answered(number: number, response: string, end_ns: number): readonly NextTurn[] {
    this.#responses[number] = response;
    this.#ends_ns[number] = end_ns;
    return this.#next(number);
  }

  /** What the record of a request says of its place; `firstIndex`: position in the run of the phase's first request. */
  placeOf(number: number, firstIndex: number): ConversationPlace {
    const { turn, agent, thinkSeconds, toolSeconds, recordedSeconds } = this.#conversation.place(number);
    return {
      conversation: firstIndex + this.position,
      turn,
      agent,
      conversation_requests: this.#conversation.requests,
      think_ns: number === 0 ? null : nanoseconds(thinkSeconds),
      tool_ns: toolSeconds === null ? null : nanoseconds(toolSeconds),
      planned_ns: recordedSeconds === null ? null : this.#start_ns + nanoseconds(recordedSeconds),
    };
  }

  /** Those that waited for a request last. */
  #next(answered: number): readonly NextTurn[] {
    const next: NextTurn[] = [];
    for (const number of this.#followers[answered] ?? []) {
      const { after, thinkSeconds, toolSeconds } = this.#conversation.place(number);
      if (after.some((earlier) => this.#ends_ns[earlier] === undefined)) continue;
      const ready = this.#write(number, this.#conversation.request(number, this.#responses));
      const from_ns = Math.max(this.#start_ns, ...after.map((earlier) => this.#ends_ns[earlier] ?? 0));
      next.push({ ready, due_ns: from_ns + nanoseconds(thinkSeconds + (toolSeconds ?? 0)) });
    }
    return next;
  }
}

const nanoseconds = (seconds: number): number => Math.round(seconds * 1e9);

/**
 * The requests of one phase in order, or the first ones of its conversations, each of which takes as many positions as
 * it has requests. Some are written in advance while the loop is idle, so that sending one has no extra cost.
 */
export class RequestFeed {
  readonly #form: RequestForm;
  readonly #phase: LoadPhase;
  #count: number;
  readonly #ahead: number;
  readonly #deal: Deal;
  readonly #starts: ConversationPositions;
  #ready: ReadyRequest[] = [];
  #readyBytes = 0;
  #positions = 0;
  #scheduled = false;

  /**
   * `count`: number of requests in the phase, null without end; `ahead`: how many to keep ready; `deal`: which of them
   * this feed provides.
   */
  constructor(
    form: RequestForm,
    phase: LoadPhase,
    count: number | null,
    ahead: number,
    deal: Deal = new FixedDeal(WHOLE),
  ) {
    this.#form = form;
    this.#phase = phase;
    this.#count = count ?? Infinity;
    this.#ahead = ahead;
    this.#deal = deal;
    this.#starts = new ConversationPositions(form.dataset, phase);
    while (this.#hasRoom() && this.#isDealt()) this.#hold();
  }

  /** The next request; null after the last. */
  take(): ReadyRequest | null {
    const held = this.#ready.shift();
    if (held !== undefined) this.#readyBytes -= size(held);
    const ready = held ?? (this.#isDealt() ? this.#make() : null);
    if (ready === null) return null;
    this.#positions = ready.position + (ready.of?.conversation.count ?? 1);
    if (!this.#scheduled && this.#wantsMore()) this.#schedule();
    return ready;
  }

  /** Positions below this have been assigned, including those of later turns. */
  get positions(): number {
    return this.#positions;
  }

  /** Continues past the last request, as if the phase had no end. */
  continueWithoutEnd(): void {
    this.#count = Infinity;
  }

  /** Whether the last request has been taken. */
  get exhausted(): boolean {
    return this.#ready.length === 0 && !this.#isDealt();
  }

  #wantsMore(): boolean {
    return this.#hasRoom() && this.#isDealt(this.#deal.onDemand);
  }

  #hasRoom(): boolean {
    return this.#ready.length < this.#ahead && this.#readyBytes < MAX_BYTES_AHEAD;
  }

  /** Whether there is a further number, with `left` positions after it. */
  #isDealt(left = 0): boolean {
    return this.#starts.of(this.#deal.peek()) + left < this.#count;
  }

  #schedule(): void {
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const enough = this.#readyBytes + BATCH_BYTES;
      for (let i = 0; i < BATCH && this.#readyBytes < enough && this.#wantsMore(); i++) this.#hold();
      if (this.#wantsMore()) this.#schedule();
    });
  }

  #hold(): void {
    const ready = this.#make();
    if (ready === null) return;
    this.#readyBytes += size(ready);
    this.#ready.push(ready);
  }

  /** Null when another sender has taken the last one. */
  #make(): ReadyRequest | null {
    const number = this.#deal.next();
    const position = this.#starts.of(number);
    if (position >= this.#count) return null;
    const conversation = this.#form.dataset.conversation?.(this.#phase, number);
    if (conversation === undefined) return this.#written(this.#form.dataset.request(this.#phase, position), position);
    // The last conversation is truncated at the request limit.
    const count = Math.min(conversation.requests, this.#count - position);
    const progress = new ConversationProgress(conversation, { position, count }, (of, generation) => ({
      ...this.#written(generation, position + of.number),
      of,
    }));
    return progress.first();
  }

  #written(generation: GenerationRequest, position: number): ReadyRequest {
    const { path, headers, endpoint, options } = this.#form;
    const { max_tokens, input_tokens, model } = generation;
    const documents = endpoint.documents?.(generation);
    const body = endpoint.body(
      generation,
      model === undefined ? options : { ...options, model, baseModel: options.model },
    );
    const counted = {
      request_bytes: Buffer.byteLength(body),
      ...(input_tokens === undefined ? {} : { input_tokens }),
      ...(documents === undefined ? {} : { documents }),
      ...countedMedia(generation, this.#form.dataset),
    };
    const choices = generation.payload?.n;
    const { traceSampleRatio = 0 } = this.#form;
    const trace = traceSampleRatio === 0 ? null : newTrace(position, traceSampleRatio);
    return {
      position,
      // A response without output has no length.
      max_tokens: endpoint.generates ? max_tokens : 0,
      counted,
      ...(typeof choices === 'number' ? { choices } : {}),
      ...(model === undefined ? {} : { model }),
      ...(trace === null ? {} : { trace_id: trace.trace_id }),
      request: {
        method: 'POST',
        path,
        headers: trace === null ? headers : { ...headers, traceparent: trace.traceparent },
        body,
      },
    };
  }
}

/** Of all turns, as the body repeats them. */
function countedMedia(
  { history = [], ...last }: GenerationRequest,
  dataset: Pick<Dataset, 'images' | 'audio'>,
): CountedRequest {
  const all = (kind: keyof Media): readonly string[] => [...history, last].flatMap((message) => message[kind] ?? []);
  const images = dataset.images && all('images');
  const audio = dataset.audio && all('audio');
  return {
    ...(images && { images: images.length, image_bytes: sumOf(images, mediaBytes) }),
    ...(audio && {
      audio_ns: sumOf(audio, (url) => asNanoseconds(audioSeconds(url))),
      audio_bytes: sumOf(audio, mediaBytes),
    }),
  };
}

const asNanoseconds = (seconds: number | null): number | null => seconds && Math.round(seconds * 1e9);

/** Null: that of one is not known. */
function sumOf(urls: readonly string[], valueOf: (url: string) => number | null): number | null {
  return urls.map(valueOf).reduce((sum, each) => (sum === null || each === null ? null : sum + each), 0);
}

function size(ready: ReadyRequest): number {
  return ready.request.body?.length ?? 0;
}

/**
 * The first position of each conversation of a phase: the number of requests of all earlier ones. Query it in ascending
 * order.
 */
class ConversationPositions {
  readonly #dataset: Dataset;
  readonly #phase: LoadPhase;
  #conversation = 0;
  #position = 0;

  constructor(dataset: Dataset, phase: LoadPhase) {
    this.#dataset = dataset;
    this.#phase = phase;
  }

  /** Without conversations every request has its own position. */
  of(conversation: number): number {
    if (this.#dataset.conversation === undefined) return conversation;
    for (; this.#conversation < conversation; this.#conversation++)
      this.#position += this.#dataset.conversation(this.#phase, this.#conversation).requests;
    return this.#position;
  }
}
