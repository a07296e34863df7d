import { formulaOf, measureFamily } from '../../../core/measures/foreign-definitions.ts';
import { DISTRIBUTION_MEASURES } from '../../../core/measures/measures.ts';
import { SCALAR_MEASURES } from '../../../core/measures/scalar-measures.ts';
import type { Clock } from '../../../core/run/statistic.ts';
import { PERCENTILE_NAMES, type PercentileName } from '../../../core/stats/percentiles.ts';
import { ownValue } from '../../../core/text/nearest-names.ts';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { yamlSection, type YamlSection } from '../../files/yaml-section.ts';

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

/** More than a run can have. */
const MAX_CONCURRENCY = 1_000_000;

/**
 * Reads a mapping: `columns` assigns to each column the field of a request that it is (or, with `rows: runs`, which
 * figure of which measure) and in which unit. Strict: what is unknown, contradictory or without a unit is refused by a
 * `ConfigurationError` that begins with `file` and the line.
 */
export function parseMapping(text: string, file: string): ColumnMapping {
  // YAML takes quadratic time for some texts.
  if (text.length > MAX_CHARACTERS)
    throw new ConfigurationError(`${file}: it has ${text.length} characters, at most ${MAX_CHARACTERS} are read`);
  const root = yamlSection(text, file);
  root.onlyHas(TOP);
  const perRun = root.choice('rows', ['requests', 'runs'] as const) === 'runs';
  const tokens = root.choice('tokens', ['usage', 'tokenizer'] as const) ?? 'usage';
  const section = root.section('columns');
  const names = section.keys();
  if (names.length === 0) section.refuse('', 'is empty: at least one column is required');
  const columns = perRun ? [] : names.map((name) => requestColumn(name, section.section(name)));
  const times = root.choice('times', ['unix', 'relative'] as const);
  const isIso = columns.some(({ scale }) => scale === 'iso');
  if (isIso && times === 'relative')
    root.refuse('times', "is 'relative', which has no dates: a column is read with unit: iso");
  if (perRun)
    root.needed('requests', root.text('requests'), ': with rows: runs it names the column that counts the ok requests');
  else {
    if (root.has('start')) root.refuse('start', 'is of rows: runs; a request has "sent"');
    checkFields(section, columns);
  }
  return {
    rows: perRun ? 'runs' : 'requests',
    tool: root.text('tool') ?? 'unknown',
    scenario: root.text('scenario'),
    model: root.text('model'),
    endpoint_type: root.text('endpoint_type'),
    concurrency: root.has('concurrency') ? root.count('concurrency', 1, MAX_CONCURRENCY) : null,
    streaming: root.boolean('streaming'),
    tokens,
    times: times ?? (isIso ? 'unix' : 'relative'),
    ignore: root.texts('ignore', () => true),
    columns,
    measures: perRun ? names.map((name) => measureColumn(name, section.section(name))) : [],
    requests: root.text('requests'),
    start: root.text('start'),
  };
}

/** Two columns of one field would hide each other; without when it was sent and took nothing can be reported. */
function checkFields(section: YamlSection, columns: readonly MappedColumn[]): void {
  const fields = columns.map(({ field }) => field);
  const twice = fields.find((field, i) => fields.indexOf(field) !== i);
  if (twice !== undefined) section.refuse('', `has two columns that are "${twice}"`);
  if (!fields.includes('sent')) section.refuse('', 'has no column that is "sent", the time when a request was sent');
  if (!fields.includes('end') && !fields.includes('request_latency')) {
    section.refuse('', 'has no column that is "end" or "request_latency": the end of a request is missing');
  }
}

function neededChoice<T extends string>(section: YamlSection, key: string, allowed: readonly T[]): T {
  return section.needed(key, section.choice(key, allowed), `: one of ${allowed.join(', ')}`);
}

function requestColumn(name: string, column: YamlSection): MappedColumn {
  const field = neededChoice(column, 'field', Object.keys(MAPPED_FIELDS) as MappedField[]);
  const isTime = MAPPED_FIELDS[field] === 'time';
  const units = [...Object.keys(NS_PER), ...(WALL_FIELDS.has(field) ? ['iso'] : [])];
  const unit = isTime ? neededChoice(column, 'unit', units) : null;
  column.onlyHas(['field', ...(isTime ? ['unit'] : [])]);
  return { column: name, field, scale: unit === 'iso' ? 'iso' : unit === null ? 1 : (ownValue(NS_PER, unit) ?? 1) };
}

function measureColumn(name: string, column: YamlSection): MappedMeasure {
  const known = [...DISTRIBUTION_MEASURES, ...Object.values(SCALAR_MEASURES)];
  const measure = neededChoice(column, 'measure', [...new Set(known.map((each) => each.measure))]);
  const isScalar = Object.values(SCALAR_MEASURES).some((each) => each.measure === measure);
  const allowed = [...STATISTICS.filter((each) => each !== 'value'), ...PERCENTILE_NAMES];
  const statistic = isScalar ? 'value' : neededChoice(column, 'statistic', allowed);
  const isTime = measureFamily(measure)?.unit === 'seconds';
  const unit = isTime ? neededChoice(column, 'unit', Object.keys(SECONDS_PER)) : null;
  const definition = column.text('definition') ?? '';
  if (formulaOf(measure, definition) === null) {
    const own = known.find((each) => each.measure === measure);
    const ours = `${own?.definition ?? ''} (${own?.formula ?? ''})`;
    column.refuse('definition', `of ${measure} is required; the one of llmbench is ${ours}`);
  }
  column.onlyHas(['measure', 'definition', ...(isScalar ? [] : ['statistic']), ...(isTime ? ['unit'] : [])]);
  const clock = DISTRIBUTION_MEASURES.find((each) => each.measure === measure && each.definition === definition)?.clock;
  const scale = unit === null ? 1 : (ownValue(SECONDS_PER, unit) ?? 1);
  return { column: name, measure, definition, clock: clock ?? 'sent', statistic, scale };
}
