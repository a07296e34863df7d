import { things } from '../../../core/text/things.ts';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import type { Dataset } from './dataset.ts';
import { requireCount, type FileDatasetOptions } from './file-dataset.ts';
import { eachLine, type InputText } from './input-lines.ts';
import { traceDataset } from './trace-dataset.ts';
import { TraceRows } from './trace-rows.ts';

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
