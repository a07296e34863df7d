import type { JsonObject, Message } from '../endpoints/endpoint.ts';
import type { TurnPlace, PromptReuse, PromptSegment } from './dataset.ts';
import { createHash } from 'node:crypto';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { FileDatasetOptions } from './file-dataset.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';
import { blockReuse } from './trace-dataset.ts';

/** Formats of sessions, of which a folder has one file or more per session. */
export const SESSION_TYPES = [
  'sessions',
  'agentic_mooncake',
  'dag_jsonl',
  'otel_spans',
  'tracelab',
  'weka_trace',
] as const;

/** Values of `--history`: which answers the later requests of a session repeat. */
export const HISTORIES = ['recorded', 'live'] as const;
export type History = (typeof HISTORIES)[number];

/** A request of a session as its file has it. */
export interface PlannedRequest {
  readonly place: TurnPlace;
  /** Number of the request whose messages and answer precede its own; null: none. */
  readonly continues: number | null;
  readonly messages: readonly Message[];
  /** A message of random words that follows them; null: none. */
  readonly words: PlannedWords | null;
  /** Null: not recorded. */
  readonly answer: Message | null;
  readonly outputTokens: number | null;
  readonly tools: readonly JsonObject[] | null;
  readonly extra: JsonObject | null;
}

/** A text of which the file has the length, and ids of its blocks: equal ones have equal words. */
export interface PlannedWords {
  readonly tokens: number;
  readonly hashIds: readonly number[];
  readonly blockTokens: number;
  /** Whose ids they are; empty: those of the file. */
  readonly scope: string;
}

interface ReuseOptions extends Pick<FileDatasetOptions, 'outputTokens' | 'tokenizer'> {
  readonly history: History;
}

/** Where a session is: equal numbers are the same session of the file, equal places the same answers of the server. */
interface SessionPlace {
  readonly number: number;
  readonly place: string;
}

/** What the prompts of sessions share. */
export class SessionReuse {
  readonly #options: Omit<ReuseOptions, 'tokenizer'>;
  readonly #tokenizer: Tokenizer | null;
  /** Texts are counted once. */
  readonly #segments = new WeakMap<Message, PromptSegment>();

  constructor(options: ReuseOptions) {
    this.#options = options;
    this.#tokenizer = options.tokenizer;
  }

  /** Whether the lengths of all prompts are known: those of texts only by a tokenizer. */
  isKnownOf(requests: readonly PlannedRequest[]): boolean {
    return (
      this.#tokenizer !== null ||
      requests.every((one) => one.messages.length === 0 && (this.#isLive(one) || !isContinued(one, requests)))
    );
  }

  /** Of each request of a session, in order. */
  of(requests: readonly PlannedRequest[], session: SessionPlace): readonly PromptReuse[] {
    /** Up to and with the answer to each request. */
    const ends: { readonly segments: readonly PromptSegment[]; readonly isLive: boolean }[] = [];
    return requests.map((request, i): PromptReuse => {
      const before = request.continues === null ? undefined : ends[request.continues];
      const earlier = before?.segments ?? [];
      const segments = [...earlier, ...this.#own(request, `${session.number}/${i}`)];
      ends.push({
        segments: [...segments, this.#answer(request, `${session.place}/${i}`)],
        isLive: this.#isLive(request),
      });
      // The server has the tokens of an answer that it gave itself.
      return { tokens: tokensOf(segments), segments, earlier: before?.isLive === true ? tokensOf(earlier) : 0 };
    });
  }

  #own({ messages, words }: PlannedRequest, name: string): readonly PromptSegment[] {
    const texts = messages.map((message) => this.#text(message));
    if (words === null) return texts;
    const { segments } = blockReuse(words.tokens, words.hashIds, words.blockTokens, words.scope);
    const rest = words.tokens - tokensOf(segments);
    return [...texts, ...segments, ...(rest > 0 ? [{ key: `words ${name}`, tokens: rest }] : [])];
  }

  /** What later requests repeat of the answer. */
  #answer(request: PlannedRequest, name: string): PromptSegment {
    const { answer, outputTokens } = request;
    if (answer !== null && !this.#isLive(request)) return this.#text(answer);
    const tokens = outputTokens ?? this.#options.outputTokens ?? DEFAULT_OUTPUT_TOKENS;
    return { key: `answer ${name}`, tokens };
  }

  /** Whether later requests repeat what the server answered. */
  #isLive({ answer }: PlannedRequest): boolean {
    return answer === null || this.#options.history === 'live';
  }

  #text(message: Message): PromptSegment {
    const known = this.#segments.get(message);
    if (known !== undefined) return known;
    const { role, content, tool_calls: calls } = message;
    const key = createHash('sha256')
      .update(JSON.stringify([role, content, calls ?? null]))
      .digest('base64');
    const segment = { key, tokens: this.#tokenizer?.count(content) ?? 0 };
    this.#segments.set(message, segment);
    return segment;
  }
}

const isContinued = (request: PlannedRequest, all: readonly PlannedRequest[]): boolean =>
  all.some(({ continues }) => continues !== null && all[continues] === request);

const tokensOf = (segments: readonly PromptSegment[]): number => segments.reduce((sum, { tokens }) => sum + tokens, 0);
