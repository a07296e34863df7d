import type { ServerResponse } from 'node:http';
import type { EngineParameters } from '../engine/parameters.ts';
import { seededRandom, type Random } from '../../core/stats/seeded-random.ts';
import { badRequest } from './json-body.ts';
import { UNTROUBLED, type ServerFaults, type StreamFate } from '../faults/plan.ts';
import type { Reply, RequestBackend, MonotonicClock } from './engine-driver.ts';
import type { Prompt } from './prompt.ts';
import { TruthRecord } from './truth-log.ts';
import type { TruthLog } from './truth-log.ts';

const VOCABULARY_SIZE = 4096;
/** How much a model says by itself when the client sets no limit: from the first to the sum of both. */
const MIN_RESPONSE = 16;
const RESPONSE_SPREAD = 240;

interface GenerationsOptions {
  readonly parameters: EngineParameters;
  readonly backend: RequestBackend;
  readonly clock: MonotonicClock;
  readonly truth: TruthLog;
  /** Default: none. */
  readonly faults?: ServerFaults;
}

/** What every reply to a request needs, whatever its dialect. */
export interface ReplyParts {
  readonly response: ServerResponse;
  readonly nextWord: () => string;
  readonly clock: MonotonicClock;
  readonly truth: TruthRecord;
  readonly fate: StreamFate;
  /** To be called when the response is complete. */
  readonly ended: () => void;
}

export interface Generation {
  readonly id: string;
  /** Path of the API that it came by. Default: chat completions. */
  readonly route?: string;
  readonly prompt: Prompt;
  /** Null: the model ends by itself; 0: it only reads the prompt. */
  readonly maxTokens: number | null;
  readonly streaming: boolean;
  readonly response: ServerResponse;
  /** Called when the response is complete, or the client has gone before. */
  readonly ended: () => void;
  /** Called before the request is in the engine. */
  readonly makeReply: (parts: ReplyParts) => Reply;
}

/** Hands requests to the backend, writes them into the truth log and takes them out when their client goes away. */
export class Generations {
  readonly #options: GenerationsOptions;
  readonly #lengths: Random;
  readonly #nextWord: () => string;

  constructor(options: GenerationsOptions) {
    this.#options = options;
    this.#lengths = seededRandom(options.parameters.seed);
    // Not from the seed: a client must not be able to know the response.
    const random = Math.random;
    const words = makeVocabulary(random, VOCABULARY_SIZE);
    this.#nextWord = () => words[Math.floor(random() * VOCABULARY_SIZE)] ?? ' ';
  }

  /** @throws ApiError when the request does not fit the model */
  start({ id, route, prompt, maxTokens, streaming, response, ended, makeReply }: Generation): void {
    const { backend, clock, truth, faults } = this.#options;
    const outputTokens = this.#outputTokens(prompt.tokens, maxTokens);
    const arrival_ns = backend.nextArrival_ns();
    const record = new TruthRecord({ id, arrival_ns, promptTokens: prompt.tokens, outputTokens });
    truth.add(record);

    let isComplete = false;
    const complete = (): void => {
      isComplete = true;
      ended();
    };
    response.once('close', () => {
      if (isComplete) return;
      backend.abort(id);
      // It may have finished just before, with no listener left.
      if (record.outcome === 'running') record.outcome = 'aborted';
      ended();
    });
    const fate = faults?.streamFate() ?? UNTROUBLED;
    const reply = makeReply({ response, nextWord: this.#nextWord, clock, truth: record, fate, ended: complete });
    const finishReason = maxTokens === null || maxTokens === 0 ? 'stop' : 'length';
    const request = {
      id,
      ...(route === undefined ? {} : { route }),
      arrival_ns,
      promptTokens: prompt.tokens,
      promptBlockHashes: prompt.blockHashes,
    };
    backend.submit({ ...request, outputTokens, finishReason, streaming }, reply);
  }

  #outputTokens(promptTokens: number, maxTokens: number | null): number {
    const { maxModelLen } = this.#options.parameters;
    const room = maxModelLen - promptTokens;
    if (room < (maxTokens === 0 ? 0 : 1) || (maxTokens ?? 0) > room) {
      const wanted = maxTokens === null ? '' : ` and asks for ${maxTokens} output tokens`;
      throw badRequest(
        `This model's maximum context length is ${maxModelLen} tokens. Your request has ${promptTokens} input tokens${wanted}.`,
        'messages',
      );
    }
    return maxTokens ?? Math.min(room, MIN_RESPONSE + Math.floor(this.#lengths() * RESPONSE_SPREAD));
  }
}

const CONSONANTS = 'bdfghklmnprstvwz';
const VOWELS = 'aeiou';

/** Made-up words with a blank before them, as tokens are; plain letters, so that they stand in JSON as they are. */
function makeVocabulary(random: Random, size: number): string[] {
  const letter = (letters: string): string => letters[Math.floor(random() * letters.length)] ?? '';
  return Array.from({ length: size }, () => {
    let word = ' ';
    for (let syllables = 1 + Math.floor(random() * 3); syllables > 0; syllables--) {
      word += letter(CONSONANTS) + letter(VOWELS);
    }
    return word;
  });
}
