import { isMap, isScalar, LineCounter, parseDocument, type Node } from 'yaml';
import { formulaOf, measureFamily } from '../../../core/measures/foreign-definitions.ts';
import { DISTRIBUTION_MEASURES } from '../../../core/measures/measures.ts';
import { SCALAR_MEASURES } from '../../../core/measures/scalar-measures.ts';
import type { Clock } from '../../../core/run/statistic.ts';
import { PERCENTILE_NAMES, type PercentileName } from '../../../core/stats/percentiles.ts';
import { ownValue } from '../../../core/text/own-value.ts';
import { ImportNotes, ImportRefusal } from '../import-notes.ts';
import { Fields } from '../reading/fields.ts';

/** What of a request a column can report, and what its values are. */
const MAPPED_FIELDS = {
  sent: 'time',
  due: 'time',
  end: 'time',
  time_to_first_token: 'time',
  request_latency: 'time',
  input_tokens: 'count',
  output_tokens: 'count',
  reasoning_tokens: 'count',
  cached_tokens: 'count',
  requested_output_tokens: 'count',
  http_status: 'count',
  error: 'text',
  phase: 'text',
} as const;
export type MappedField = keyof typeof MAPPED_FIELDS;

/** A column, or a key, of a file with one row per request. */
export interface MappedColumn {
  readonly column: string;
  readonly field: MappedField;
  /** Nanoseconds per unit of a time; 1 for what is no time. `iso`: the column has dates and times. */
  readonly scale: number | 'iso';
}

const STATISTICS = ['value', 'mean', 'std', 'min', 'max'] as const;
type MappedStatistic = (typeof STATISTICS)[number] | PercentileName;

/** A column of a file with one row per run: one figure of a measure. */
export interface MappedMeasure {
  readonly column: string;
  readonly measure: string;
  readonly definition: string;
  readonly clock: Clock;
  /** `value` for a measure that is one number for the run. */
  readonly statistic: MappedStatistic;
  /** What makes base units of it. */
  readonly scale: number;
}

/** A mapping file, checked. */
export interface ColumnMapping {
  readonly rows: 'requests' | 'runs';
  readonly tool: string;
  readonly scenario: string | null;
  readonly model: string | null;
  readonly endpoint_type: string | null;
  readonly concurrency: number | null;
  readonly streaming: boolean | null;
  /** Who counted the tokens. */
  readonly tokens: 'usage' | 'tokenizer';
  /** Whether `sent` counts from 1970 or from some start of the file's own. */
  readonly times: 'unix' | 'relative';
  /** Columns that hold nothing to import. */
  readonly ignore: readonly string[];
  readonly columns: readonly MappedColumn[];
  readonly measures: readonly MappedMeasure[];
  /** With one row per run: the column that counts the ok requests. */
  readonly requests: string | null;
  /** With one row per run: the column that has its start as a date and time. */
  readonly start: string | null;
}

const NS_PER: Readonly<Record<string, number>> = { s: 1e9, ms: 1e6, us: 1e3, ns: 1 };
const SECONDS_PER: Readonly<Record<string, number>> = { s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 };
/** Fields that are a moment, not a duration. */
const WALL_FIELDS: ReadonlySet<MappedField> = new Set(['sent', 'due', 'end']);
const TOP = [
  'rows',
  'tool',
  'scenario',
  'model',
  'endpoint_type',
  'concurrency',
  'streaming',
  'tokens',
  'times',
  'ignore',
  'columns',
  'requests',
  'start',
];

/** Far more than the columns of any table need. */
const MAX_CHARACTERS = 20_000;

/**
 * Reads a mapping: `columns` assigns to each column the field of a request that it is (or, with `rows: runs`, which
 * figure of which measure) and in which unit. Strict: what is unknown, contradictory or without a unit is refused,
 * with its line, by an `ImportRefusal`.
 */
export function parseMapping(text: string): ColumnMapping {
  // YAML takes quadratic time for some texts.
  if (text.length > MAX_CHARACTERS)
    throw new ImportRefusal(`it has ${text.length} characters, at most ${MAX_CHARACTERS} are read`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, schema: 'core', prettyErrors: false });
  const [mistake] = [...document.errors, ...document.warnings];
  const at = (offset: number): string => `line ${lines.linePos(offset).line}`;
  if (mistake !== undefined) throw new ImportRefusal(`${at(mistake.pos[0])}: ${mistake.message}`);
  if (!isMap(document.contents)) throw new ImportRefusal('it is not a map of keys');
  const places = new Map<string, string>();
  for (const { key, value } of document.contents.items) {
    const name = isScalar(key) ? String(key.value) : '';
    const place = at((key as Node | null)?.range?.[0] ?? 0);
    if (!TOP.includes(name)) throw new ImportRefusal(`${place}: "${name}" is not one of ${TOP.join(', ')}`);
    if (name === 'columns' && isMap(value)) {
      for (const each of value.items) {
        places.set(isScalar(each.key) ? String(each.key.value) : '', at((each.key as Node | null)?.range?.[0] ?? 0));
      }
    }
  }
  return checked(new Strict(document.toJS(), 'the file'), (column) => places.get(column) ?? 'columns');
}

function checked(file: Strict, placeOf: (column: string) => string): ColumnMapping {
  const rows = file.oneOf('rows', ['requests', 'runs'] as const) ?? 'requests';
  const columns = file.members('columns', placeOf);
  if (columns.length === 0) throw new ImportRefusal('"columns" is empty: at least one column is required');
  const perRun = rows === 'runs';
  const mapping: ColumnMapping = {
    rows,
    tool: file.text('tool') ?? 'unknown',
    scenario: file.text('scenario'),
    model: file.text('model'),
    endpoint_type: file.text('endpoint_type'),
    concurrency: file.count('concurrency'),
    streaming: file.boolean('streaming'),
    tokens: file.oneOf('tokens', ['usage', 'tokenizer'] as const) ?? 'usage',
    times: 'relative',
    ignore: file.texts('ignore'),
    columns: perRun ? [] : columns.map(([name, column]) => requestColumn(name, column)),
    measures: perRun ? columns.map(([name, column]) => measureColumn(name, column)) : [],
    requests: file.text('requests'),
    start: file.text('start'),
  };
  if (perRun && mapping.requests === null) {
    throw new ImportRefusal('with rows: runs, "requests" must name the column that counts the ok requests');
  }
  if (!perRun && mapping.start !== null) throw new ImportRefusal('"start" is of rows: runs; a request has "sent"');
  if (!perRun) checkFields(mapping.columns);
  const times = file.oneOf('times', ['unix', 'relative'] as const);
  const isIso = mapping.columns.some(({ scale }) => scale === 'iso');
  if (isIso && times === 'relative') throw new ImportRefusal('times: relative are no dates, which "unit: iso" reads');
  return { ...mapping, times: times ?? (isIso ? 'unix' : 'relative') };
}

/** Two columns of one field would hide each other; without when it was sent and took nothing can be reported. */
function checkFields(columns: readonly MappedColumn[]): void {
  const fields = columns.map(({ field }) => field);
  const twice = fields.find((field, i) => fields.indexOf(field) !== i);
  if (twice !== undefined) throw new ImportRefusal(`two columns are "${twice}"`);
  if (!fields.includes('sent')) throw new ImportRefusal('no column is "sent", the time when a request was sent');
  if (!fields.includes('end') && !fields.includes('request_latency')) {
    throw new ImportRefusal('no column is "end" or "request_latency": the end of a request is missing');
  }
}

function requestColumn(name: string, column: Strict): MappedColumn {
  const field = column.needed('field', Object.keys(MAPPED_FIELDS) as MappedField[]);
  const isTime = MAPPED_FIELDS[field] === 'time';
  const units = [...Object.keys(NS_PER), ...(WALL_FIELDS.has(field) ? ['iso'] : [])];
  const unit = isTime ? column.needed('unit', units) : null;
  column.only('field', ...(isTime ? ['unit'] : []));
  return { column: name, field, scale: unit === 'iso' ? 'iso' : unit === null ? 1 : (ownValue(NS_PER, unit) ?? 1) };
}

function measureColumn(name: string, column: Strict): MappedMeasure {
  const known = [...DISTRIBUTION_MEASURES, ...Object.values(SCALAR_MEASURES)];
  const measure = column.needed('measure', [...new Set(known.map((each) => each.measure))]);
  const isScalar = Object.values(SCALAR_MEASURES).some((each) => each.measure === measure);
  const allowed: readonly MappedStatistic[] = isScalar
    ? ['value']
    : [...STATISTICS.filter((each) => each !== 'value'), ...PERCENTILE_NAMES];
  const statistic = isScalar ? 'value' : column.needed('statistic', allowed);
  const isTime = measureFamily(measure)?.unit === 'seconds';
  const unit = isTime ? column.needed('unit', Object.keys(SECONDS_PER)) : null;
  const definition = column.text('definition');
  const own = known.find((each) => each.measure === measure);
  if (definition === null || formulaOf(measure, definition) === null) {
    throw new ImportRefusal(
      `${column.place}: "definition" of ${measure} is required; the one of llmbench is ${own?.definition ?? ''} (${own?.formula ?? ''})`,
    );
  }
  column.only('measure', 'definition', ...(isScalar ? [] : ['statistic']), ...(isTime ? ['unit'] : []));
  const clock = DISTRIBUTION_MEASURES.find((each) => each.measure === measure && each.definition === definition)?.clock;
  const scale = unit === null ? 1 : (ownValue(SECONDS_PER, unit) ?? 1);
  return { column: name, measure, definition, clock: clock ?? 'sent', statistic, scale };
}

/** Members of a map all of which must be of the requested kind. */
class Strict {
  readonly place: string;
  readonly #notes = new ImportNotes();
  readonly #fields: Fields;

  constructor(value: unknown, place: string) {
    this.place = place;
    this.#fields = new Fields(value, this.#notes);
  }

  text(name: string): string | null {
    return this.#checked(name, this.#fields.text(name));
  }

  count(name: string): number | null {
    return this.#checked(name, this.#fields.count(name));
  }

  boolean(name: string): boolean | null {
    return this.#checked(name, this.#fields.boolean(name));
  }

  texts(name: string): readonly string[] {
    const list = this.#checked(name, this.#fields.list(name)) ?? [];
    return list.map((each) => {
      if (typeof each === 'string') return each;
      throw new ImportRefusal(`${this.place}: "${name}" must be a list of texts`);
    });
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T | null {
    const value = this.text(name);
    const found = allowed.find((each) => each === value);
    if (value !== null && found === undefined) {
      throw new ImportRefusal(`${this.place}: "${name}" is "${value}" and must be one of ${allowed.join(', ')}`);
    }
    return found ?? null;
  }

  needed<T extends string>(name: string, allowed: readonly T[]): T {
    const found = this.oneOf(name, allowed);
    if (found !== null) return found;
    throw new ImportRefusal(`${this.place}: "${name}" is missing: one of ${allowed.join(', ')}`);
  }

  members(name: string, placeOf: (member: string) => string): (readonly [string, Strict])[] {
    const map = this.#checked(name, this.#fields.object(name));
    return (map?.names ?? []).map((member) => [member, new Strict(map?.raw(member), `${placeOf(member)}, ${member}`)]);
  }

  only(...allowed: readonly string[]): void {
    const surplus = this.#fields.names.find((name) => !allowed.includes(name));
    if (surplus !== undefined) throw new ImportRefusal(`${this.place}: "${surplus}" has no meaning here`);
  }

  #checked<T>(name: string, value: T | null): T | null {
    if (value === null && this.#fields.has(name))
      throw new ImportRefusal(`${this.place}: "${name}" is not as it must be`);
    return value;
  }
}
