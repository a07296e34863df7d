import { seededRandom } from '../../../core/stats/seeded-random.ts';
import { things } from '../../../core/text/quantities.ts';
import { ConfigurationError } from '../../errors/expected-error.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Dataset, PromptReuse, PromptSegment } from './dataset.ts';
import {
  entryOrder,
  indexedDataset,
  longestOutput,
  textRequest,
  requireCount,
  type FileDatasetOptions,
} from './file-dataset.ts';
import { eachLine, type InputText } from './input-lines.ts';
import { PromptWriter } from './prompt-writer.ts';
import type { InputRow } from './row.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';

/** About 0.8 GB of rows without hash ids. */
const MAX_ROWS = 2 ** 25;
const FIRST_CAPACITY = 1024;

/** One request of a trace. */
export interface TraceRow {
  /** Nanoseconds since the start of the trace; null: it has no time. */
  readonly due_ns: number | null;
  readonly inputTokens: number;
  /** Null: the run's setting. */
  readonly outputTokens: number | null;
  readonly hashIds: readonly number[];
}

/** The rows of a trace in columns of numbers: a file of many millions of rows fits into memory. */
export class TraceRows {
  readonly #due_ns = new NumberColumn();
  readonly #inputs = new NumberColumn();
  readonly #outputs = new NumberColumn();
  readonly #hashEnds = new NumberColumn();
  readonly #hashIds = new NumberColumn();
  /** The first row without a time. */
  #untimed: number | null = null;

  get count(): number {
    return this.#inputs.length;
  }

  /** Whether the rows have times; `refuse` is called when only some do, with the first that does not. */
  times(refuse: (row: number) => never): Float64Array | undefined {
    const times = this.#due_ns.values();
    if (this.#untimed === null) return times;
    return times.some((due_ns) => !Number.isNaN(due_ns)) ? refuse(this.#untimed) : undefined;
  }

  /** Throws a `ConfigurationError` when there are too many. */
  push({ due_ns, inputTokens, outputTokens, hashIds }: TraceRow, file: string): void {
    if (this.count >= MAX_ROWS) throw new ConfigurationError(`${file}: more than ${MAX_ROWS} rows; split the file`);
    if (due_ns === null) this.#untimed ??= this.count;
    this.#due_ns.push(due_ns ?? NaN);
    this.#inputs.push(inputTokens);
    this.#outputs.push(outputTokens ?? NaN);
    for (const id of hashIds) this.#hashIds.push(id);
    this.#hashEnds.push(this.#hashIds.length);
  }

  inputTokens(row: number): number {
    return this.#inputs.at(row);
  }

  outputTokens(row: number): number | null {
    const tokens = this.#outputs.at(row);
    return Number.isNaN(tokens) ? null : tokens;
  }

  get haveHashIds(): boolean {
    return this.#hashIds.length > 0;
  }

  hashIds(row: number): Float64Array {
    return this.#hashIds.values().subarray(row === 0 ? 0 : this.#hashEnds.at(row - 1), this.#hashEnds.at(row));
  }
}

/** A list of numbers that grows by doubling. */
class NumberColumn {
  #values = new Float64Array(FIRST_CAPACITY);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      const longer = new Float64Array(this.#values.length * 2);
      longer.set(this.#values);
      this.#values = longer;
    }
    this.#values[this.length++] = value;
  }

  at(index: number): number {
    return this.#values[index] ?? NaN;
  }

  values(): Float64Array {
    return this.#values.subarray(0, this.length);
  }
}

export interface TraceOptions extends FileDatasetOptions {
  /** `--isl-block-size`: tokens that a hash id stands for; null: those of the format. */
  readonly blockTokens: number | null;
}

/** Tokens that a hash id stands for, by format. */
export const BLOCK_TOKENS = { mooncake_trace: 512, bailian_trace: 16, tracelab: 64 } as const;

/** A trace that was read. */
export interface ReadTrace {
  /** As in `--custom-dataset-type`. */
  readonly type: string;
  readonly rows: TraceRows;
  readonly sha256: string;
  readonly blockTokens: number;
  /** By row: the prompts of rows that have one instead of a length. */
  readonly texts?: ReadonlyMap<number, string>;
  /** Reports a row without a time although others have one. */
  readonly untimed: (row: number) => never;
}

/** The requests of a trace, with its times when they are sent in its order. */
export function traceDataset(trace: ReadTrace, options: FileDatasetOptions): Dataset {
  const { type, rows, sha256, blockTokens, texts } = trace;
  const { seed, outputTokens, tokenizer } = options;
  // The times are meaningful only in file order.
  const due_ns = options.strategy === 'sequential' ? rows.times(trace.untimed) : undefined;
  const prompts = new BlockPrompts(seed, blockTokens, tokenizer);
  const dataset = indexedDataset(
    type,
    { count: rows.count, sha256 },
    options,
    (row) => {
      const text = texts?.get(row) ?? prompts.prompt(rows.inputTokens(row), rows.hashIds(row), row);
      return textRequest(text, rows.outputTokens(row) ?? outputTokens ?? DEFAULT_OUTPUT_TOKENS, tokenizer);
    },
    longestOutput(outputsOf(rows), options),
    { blockTokens, seeded: 1 },
  );
  const order = entryOrder(options.strategy, rows.count, seed);
  const shared: Dataset['shared'] = (phase, position) => [rowReuse(rows, order(phase, position), blockTokens)];
  return {
    ...dataset,
    ...(due_ns === undefined ? {} : { due_ns }),
    // Of rows with a text it is not known what they share.
    ...(rows.haveHashIds && (texts === undefined || texts.size === 0) ? { shared } : {}),
  };
}

/** The blocks of a row; a partial block is a text of its own. */
function rowReuse(rows: TraceRows, row: number, blockTokens: number): PromptReuse {
  const tokens = rows.inputTokens(row);
  return blockReuse(tokens, rows.hashIds(row), blockTokens);
}

/** What prompts made of blocks share. `scope`: whose ids they are; empty: those of the file. */
export function blockReuse(tokens: number, hashIds: ArrayLike<number>, blockTokens: number, scope = ''): PromptReuse {
  const segments = Array.from(hashIds, (id, i): PromptSegment => {
    const length = Math.min(blockTokens, tokens - i * blockTokens);
    const key = scope === '' ? id : `${scope}/${id}`;
    return { key: length === blockTokens ? key : `${key}/${length}`, tokens: length };
  });
  return { tokens, segments, earlier: 0 };
}

function* outputsOf(rows: TraceRows): Generator<number | null> {
  for (let row = 0; row < rows.count; row++) yield rows.outputTokens(row);
}

/** The hash ids of a row, which its input must be long enough for. Throws a `ConfigurationError` of the row. */
export function hashIdsOf(row: InputRow, inputTokens: number, blockTokens: number): readonly number[] {
  const hashIds = row.integers('hash_ids') ?? [];
  if (hashIds.length > Math.ceil(inputTokens / blockTokens)) {
    row.refuse(
      `hash_ids has ${hashIds.length} blocks of ${blockTokens} tokens, more than input_length ${inputTokens} holds: ` +
        'check --isl-block-size',
    );
  }
  return hashIds;
}

/** Number of block texts cached for later requests with the same id. */
const MAX_BLOCKS = 4096;

/** Prompts made of blocks: the same id always has the same text; what follows the blocks is unique to the request. */
export class BlockPrompts {
  readonly #seed: number;
  readonly #blockTokens: number;
  readonly #writer: PromptWriter;
  readonly #known = new Map<number | string, string>();

  constructor(seed: number, blockTokens: number, tokenizer: Tokenizer | null) {
    this.#seed = seed;
    this.#blockTokens = blockTokens;
    this.#writer = new PromptWriter(tokenizer);
  }

  /** `index`: of the request; `scope`: whose ids they are, empty: those of the file. */
  prompt(inputTokens: number, hashIds: Iterable<number>, index: number | string, scope = ''): string {
    let left = inputTokens;
    let text = '';
    for (const id of hashIds) {
      const tokens = Math.min(left, this.#blockTokens);
      text += this.#block(scope === '' ? id : `${scope}/${id}`, tokens);
      left -= tokens;
    }
    if (left > 0) text += this.#writer.write(seededRandom(`${this.#seed}/rest/${index}`), left, text !== '').text;
    return text.trimStart();
  }

  /** A partial block is the beginning of the text of the full one. */
  #block(id: number | string, tokens: number): string {
    const random = seededRandom(`${this.#seed}/block/${id}`);
    if (tokens < this.#blockTokens) return this.#writer.write(random, tokens, true).text;
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const { text } = this.#writer.write(random, this.#blockTokens, true);
    if (this.#known.size >= MAX_BLOCKS) this.#known.clear();
    this.#known.set(id, text);
    return text;
  }
}

const INSTANT = /^(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?$/;
const ORIGIN_SECONDS = Date.UTC(2020, 0, 1) / 1000;

let lastSecond = '';
let lastSeconds = NaN;

/** Nanoseconds since 2020, exact to 32 ns in this decade; without a zone in UTC. NaN when the text is no time. */
function instant_ns(text: string): number {
  const [, second, fraction = '', zone = 'Z'] = INSTANT.exec(text) ?? [];
  if (second === undefined) return NaN;
  // Neighboring rows are often of one second, and parsing it is slow.
  if (second + zone !== lastSecond) {
    lastSecond = second + zone;
    lastSeconds = Date.parse(`${second.replace(' ', 'T')}${zone}`) / 1000 - ORIGIN_SECONDS;
  }
  return lastSeconds * 1e9 + Number(fraction.padEnd(9, '0'));
}

/** Columns of a trace without hash ids. */
export interface CsvTraceFormat {
  readonly type: 'burst_gpt_trace' | 'azure_trace';
  readonly time: string;
  readonly input: string;
  readonly output: string;
  /** Nanoseconds since any origin; NaN when the text is no time. */
  readonly time_ns: (text: string) => number;
  /** What a time looks like. */
  readonly timeExample: string;
}

/** `Timestamp` in seconds; other columns (Model, Session ID, Log Type, …) are not used. github.com/HPMLL/BurstGPT, v1 and v2 */
export const BURST_GPT: CsvTraceFormat = {
  type: 'burst_gpt_trace',
  time: 'Timestamp',
  input: 'Request tokens',
  output: 'Response tokens',
  time_ns: (text) => (/^\d+(\.\d+)?$/.test(text) ? Math.round(Number(text) * 1e9) : NaN),
  timeExample: 'seconds, such as 5 or 19440110.0',
};

/** github.com/Azure/AzurePublicDataset: AzureLLMInferenceDataset2023.md and AzureLLMInferenceDataset2024.md */
export const AZURE: CsvTraceFormat = {
  type: 'azure_trace',
  time: 'TIMESTAMP',
  input: 'ContextTokens',
  output: 'GeneratedTokens',
  time_ns: instant_ns,
  timeExample: 'a time, such as 2023-11-16 18:15:46.6805900',
};

const MAX_TOKENS = 1e7;

/**
 * A CSV file with a header, and a request per row: its times are relative to the first request that is sent. Rows with 0
 * tokens, which are failed requests, are not sent; a note says how many. Throws a `ConfigurationError` with the line.
 */
export async function csvTrace(format: CsvTraceFormat, options: FileDatasetOptions): Promise<Dataset> {
  const { file } = options;
  const rows = new TraceRows();
  let reader: CsvRows | null = null;
  let start_ns: number | null = null;
  let failed = 0;
  const sha256 = await eachLine(file, (text) => {
    if (reader === null) {
      reader = new CsvRows(file, text, format);
      return;
    }
    const { time_ns, inputTokens, outputTokens } = reader.row(text);
    if (inputTokens === 0 || outputTokens === 0) {
      failed++;
      return;
    }
    start_ns ??= time_ns;
    rows.push({ due_ns: time_ns - start_ns, inputTokens, outputTokens, hashIds: [] }, file);
  });
  requireCount(rows.count, file);
  const dataset = traceDataset(
    { type: format.type, rows, sha256, blockTokens: 0, untimed: () => refuse(file, 1, 'a row has no time') },
    options,
  );
  const note = `${file}: ${things(failed, 'rows')} with 0 tokens (failed requests) are not sent`;
  return failed === 0 ? dataset : { ...dataset, notes: [note] };
}

function refuse(file: string, line: number, problem: string): never {
  throw new ConfigurationError(`${file}:${line}: ${problem}`);
}

/** The fields of rows by the names of the header. Values with quotes occur in neither format. */
class CsvRows {
  readonly #file: string;
  readonly #format: CsvTraceFormat;
  readonly #columns: number;
  readonly #places: { readonly time: number; readonly input: number; readonly output: number };

  constructor(file: string, { line, text }: InputText, format: CsvTraceFormat) {
    const names = text.trim().split(',');
    const placeOf = (name: string): number => {
      const place = names.indexOf(name);
      return place < 0 ? refuse(file, line, `the column ${name} is missing`) : place;
    };
    this.#file = file;
    this.#format = format;
    this.#columns = names.length;
    this.#places = { time: placeOf(format.time), input: placeOf(format.input), output: placeOf(format.output) };
  }

  row({ line, text }: InputText): {
    readonly time_ns: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
  } {
    const fields = text.trim().split(',');
    if (fields.length !== this.#columns)
      refuse(this.#file, line, `${things(fields.length, 'fields')}, but the header has ${this.#columns}`);
    const { time, input, output } = this.#places;
    const time_ns = this.#format.time_ns(fields[time] ?? '');
    if (Number.isNaN(time_ns)) refuse(this.#file, line, `${this.#format.time} must be ${this.#format.timeExample}`);
    return {
      time_ns,
      inputTokens: this.#tokens(fields[input] ?? '', this.#format.input, line),
      outputTokens: this.#tokens(fields[output] ?? '', this.#format.output, line),
    };
  }

  #tokens(text: string, column: string, line: number): number {
    const tokens = /^\d{1,8}$/.test(text) ? Number(text) : NaN;
    return tokens <= MAX_TOKENS
      ? tokens
      : refuse(this.#file, line, `${column} must be a whole number from 0 to ${MAX_TOKENS}`);
  }
}
