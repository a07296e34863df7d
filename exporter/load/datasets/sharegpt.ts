import { ConfigurationError } from '../../errors/expected-error.ts';
import type { Dataset } from './dataset.ts';
import { fileDataset, longestOutput, requireEntries, type FileDatasetOptions } from './file-dataset.ts';
import { INPUT_LIMITS, readLines, readPieces, type InputText, type InputTexts } from './input-lines.ts';
import { InputRow } from './row.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LF = 0x0a;

/**
 * Reads the elements of the JSON array in a file one at a time, so that the file may be larger than the longest string;
 * a file that does not begin with an array is read line by line. Throws a `ConfigurationError`.
 */
export async function readElements(file: string, limits = INPUT_LIMITS): Promise<InputTexts> {
  const texts: InputText[] = [];
  const scanner = new ElementScanner(file, limits.lineBytes, (text) => texts.push(text));
  const sha256 = await readPieces(file, limits, (bytes) => scanner.push(bytes));
  if (!scanner.isArray) return readLines(file, limits);
  scanner.end();
  return { texts, sha256 };
}

/** Tracks brackets and strings only: the parser of an element decides whether it is JSON. */
class ElementScanner {
  readonly #file: string;
  readonly #limit: number;
  readonly #element: (text: InputText) => void;
  #state: 'before' | 'inside' | 'after' | 'lines' = 'before';
  #line = 1;
  #depth = 0;
  #inText = false;
  #escaped = false;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #begunAt = 0;

  constructor(file: string, limit: number, element: (text: InputText) => void) {
    this.#file = file;
    this.#limit = limit;
    this.#element = element;
  }

  get isArray(): boolean {
    return this.#state === 'inside' || this.#state === 'after';
  }

  push(bytes: Buffer): void {
    if (this.#state === 'lines') return;
    let from = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === LF) this.#line++;
      if (this.#state === 'before') {
        if (isSpace(byte) || isMark(byte)) continue;
        if (byte !== 0x5b) {
          this.#state = 'lines';
          return;
        }
        this.#state = 'inside';
        from = at + 1;
      } else if (this.#state === 'inside') from = this.#inside(bytes, at, byte, from);
      else if (!isSpace(byte)) this.#refuse('unexpected data after the end of the array');
    }
    if (this.#state === 'inside') this.#add(bytes.subarray(from));
  }

  end(): void {
    if (this.#state === 'inside') this.#refuse('the closing ] of the array is missing');
  }

  /** Processes one byte within the array and returns where the bytes that are not kept begin. */
  #inside(bytes: Buffer, at: number, byte: number, from: number): number {
    if (this.#inText) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) this.#inText = false;
      return from;
    }
    const isEnd = this.#depth === 0 && (byte === 0x2c || byte === 0x5d);
    if (!isEnd) {
      if (!isSpace(byte) && this.#begunAt === 0) this.#begunAt = this.#line;
      if (byte === QUOTE) this.#inText = true;
      else if (byte === 0x7b || byte === 0x5b) this.#depth++;
      else if (byte === 0x7d || byte === 0x5d) this.#depth--;
      return from;
    }
    this.#add(bytes.subarray(from, at));
    this.#deliver();
    if (byte === 0x5d) this.#state = 'after';
    return at + 1;
  }

  #deliver(): void {
    const text = Buffer.concat(this.#pieces).toString('utf8').trim();
    if (text !== '') this.#element({ line: this.#begunAt, text });
    this.#pieces = [];
    this.#bytes = 0;
    this.#begunAt = 0;
  }

  #add(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#limit) this.#refuse(`an element is longer than ${this.#limit} bytes`);
    if (bytes.length > 0) this.#pieces.push(bytes);
  }

  #refuse(problem: string): never {
    throw new ConfigurationError(`${this.#file}:${this.#line}: ${problem}`);
  }
}

const isSpace = (byte: number): boolean => byte === 0x20 || byte === LF || byte === 0x0d || byte === 0x09;

/** Length of a byte order mark in bytes. */
const isMark = (byte: number): boolean => byte === 0xef || byte === 0xbb || byte === 0xbf;

/** Limits of vLLM's benchmark for this dataset, in tokens. */
const MIN_TOKENS = 4;
const MAX_PROMPT = 1024;
const MAX_BOTH = 2048;

interface Pair {
  readonly prompt: string;
  readonly input_tokens: number | null;
  readonly max_tokens: number;
}

/**
 * `sharegpt`: the first question of each conversation, and an output as long as the recorded answer (or `--osl`), by
 * the rules of `vllm bench serve`: conversations of one turn are skipped, and with a tokenizer those that are shorter
 * than 4 tokens or longer than 1024, or 2048 with the response. Throws a `ConfigurationError`.
 */
export async function shareGpt(options: FileDatasetOptions): Promise<Dataset> {
  const { file, tokenizer, outputTokens } = options;
  if (tokenizer === null && outputTokens === null)
    throw new ConfigurationError(
      'a ShareGPT file requires --tokenizer, which counts the tokens of its answers, or --osl',
    );
  const { texts, sha256 } = await readElements(file);
  const entries = requireEntries(texts, file).flatMap((text) => pairOf(InputRow.parse(file, text), options) ?? []);
  if (entries.length === 0)
    throw new ConfigurationError(`${file}: none of its ${texts.length} conversations has a supported length`);
  return fileDataset(
    'sharegpt',
    { entries, sha256 },
    options,
    ({ prompt, max_tokens, input_tokens }) => ({
      prompt,
      max_tokens,
      ...(input_tokens === null ? {} : { input_tokens }),
    }),
    longestOutput(
      entries.map((entry) => entry.max_tokens),
      options,
    ),
  );
}

function pairOf(row: InputRow, { tokenizer, outputTokens }: FileDatasetOptions): Pair | null {
  const key = row.has('conversations') ? 'conversations' : 'conversation';
  const { [key]: turns } = row.json;
  if (!Array.isArray(turns)) row.refuse('conversations is missing: each entry must have a list of turns');
  if (turns.length < 2) return null;
  const [question, response] = row.rows(key);
  const prompt = question === undefined ? '' : turnText(question);
  const completion = response === undefined ? '' : turnText(response);
  if (prompt === '') return null;
  if (tokenizer === null) return { prompt, input_tokens: null, max_tokens: outputTokens ?? 0 };
  const input_tokens = tokenizer.count(prompt);
  const max_tokens = outputTokens ?? tokenizer.count(completion);
  if (input_tokens < MIN_TOKENS || (outputTokens === null && max_tokens < MIN_TOKENS)) return null;
  if (input_tokens > MAX_PROMPT || input_tokens + max_tokens > MAX_BOTH) return null;
  return { prompt, input_tokens, max_tokens };
}

/** `value` as in the original, `content` as in files of messages; an empty turn counts as a turn. */
function turnText(turn: InputRow): string {
  const { value, content } = turn.json;
  if (typeof value === 'string') return value;
  return typeof content === 'string' ? content : turn.refuse('value must be a string');
}
