import { closedLoop } from '../../../core/run/load.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import { firstNames } from '../../../core/text/quantities.ts';
import { ImportNotes, printable, ImportRefusal } from '../import-notes.ts';
import { known, reportedRun } from '../importer.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, ReportedFacts } from '../importer.ts';
import { isObject } from '../reading/fields.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { IsoTimes, NO_ZONE, wallInstant } from '../reading/wall-time.ts';
import { statedDistribution, statedScalar } from '../stated/stated-measures.ts';
import type { ColumnMapping, MappedMeasure } from './mapping.ts';
import { isoIn, MappedRow, numberIn, recordOfRow, rowsOf, type SourceRow } from './row-record.ts';

const FORMAT = 'mapped-table';

/** Reads any CSV, JSON list or JSON lines file as a mapping defines. Tried after the importers of known tools. */
export function mappedImporter(mapping: ColumnMapping): Importer {
  const needed = [...mapping.columns, ...mapping.measures].map(({ column }) => column);
  return {
    tool: mapping.tool,
    recognize({ head }) {
      const names = columnNames(head);
      return needed.some((column) => names.includes(column)) ? { format: FORMAT } : null;
    },
    whyNot({ head }) {
      if (head.text.trim() === '') return 'is empty';
      const has = [...new Set(columnNames(head))];
      const isJson = /^\s*[[{]/.test(head.text);
      const hint = isJson
        ? '; rows are the objects of a JSON list or of the lines of the file, and members of nested objects are not columns'
        : '';
      return `has none of the mapped columns ${namesText(needed)}, but ${namesText(has)}${hint}`;
    },
    read: (group, context) => readMapped(mapping, needed, group, context),
  };
}

const MAX_NAMED = 4;

function namesText(names: readonly string[]): string {
  const quoted = names.map((name) => `"${printable(name)}"`);
  return quoted.length === 0 ? 'no names' : firstNames(quoted, MAX_NAMED);
}

function columnNames({ text, firstLine, keys, firstObject }: SourceFile['head']): readonly string[] {
  if (firstObject !== null) return Object.keys(firstObject);
  if (text.trimStart().startsWith('['))
    return Array.from(text.matchAll(/"((?:[^"\\]|\\.)*)"\s*:/g), ([, name]) => name ?? '');
  return keys.length > 0 ? keys : firstLine.split(',').map((name) => name.trim().replace(/^"(.*)"$/, '$1'));
}

async function* readMapped(
  mapping: ColumnMapping,
  needed: readonly string[],
  group: FileGroup,
  context: ImportContext,
): AsyncGenerator<ImportedRun> {
  const file = group.files[0]?.file;
  if (file === undefined) return;
  const required = [...needed, ...[mapping.requests, mapping.start].filter((column) => column !== null)];
  const { first, missing, notes: rowNotes } = await surveyRows(file, required, mapping.rows === 'runs', context);
  if (first === null) throw new ImportRefusal(`${file.name} has no rows`);
  if (missing.length > 0)
    throw new ImportRefusal(`${file.name} has no column ${missing.map((name) => `"${name}"`).join(', ')}`);
  // The records of one run are read with notes of their own.
  const notes = mapping.rows === 'runs' ? rowNotes : new ImportNotes();
  for (const name of Object.keys(first)) {
    if (!required.includes(name) && !mapping.ignore.includes(name)) notes.notUnderstood(name);
  }
  yield* mapping.rows === 'runs' ? runPerRow(mapping, file, notes, context) : oneRun(mapping, file, notes, context);
}

interface RowSurvey {
  /** The first row; null without any. */
  readonly first: Readonly<Record<string, unknown>> | null;
  /** The required columns that no row has. */
  readonly missing: readonly string[];
  readonly notes: ImportNotes;
}

/** Reads rows until each required column was in one, since an object may lack some; or all, if `isWhole`. */
async function surveyRows(
  file: SourceFile,
  required: readonly string[],
  isWhole: boolean,
  { signal }: ImportContext,
): Promise<RowSurvey> {
  const notes = new ImportNotes();
  let first: RowSurvey['first'] = null;
  let missing = required;
  for await (const { cells } of rowsOf(file, notes, { signal })) {
    first ??= cells;
    missing = missing.filter((name) => !Object.hasOwn(cells, name));
    if (missing.length === 0 && !isWhole) break;
  }
  return { first, missing, notes };
}

async function* runPerRow(
  mapping: ColumnMapping,
  file: SourceFile,
  notes: ImportNotes,
  context: ImportContext,
): AsyncGenerator<ImportedRun> {
  for await (const row of rowsOf(file, new ImportNotes(), context)) {
    const own = notes.copy();
    const ok = okRequestsOf(row, mapping, own);
    const times = new IsoTimes(context.timeZone);
    const start_ns = mapping.start === null ? null : isoIn(row, mapping.start, mapping.start, times, own);
    if (times.lacksZone) own.add(NO_ZONE);
    yield reportedRun({
      ...common(mapping),
      part: `row ${row.number}`,
      start: start_ns === null || times.lacksZone ? null : wallInstant(Math.floor(start_ns / 1e6)),
      stated: { requests: { ok }, measures: measuresOfRow(row, ok, mapping, own) },
      notes: own,
    });
  }
}

/** How many requests of a run were ok; null when its row has no such count. */
function okRequestsOf(row: SourceRow, { requests }: ColumnMapping, notes: ImportNotes): number | null {
  const count = requests === null ? null : numberIn(row, requests, requests, notes);
  if (count === null || (Number.isSafeInteger(count) && count >= 0)) return count;
  notes.add(`row ${row.number}: ${requests} is not a whole number of 0 or more, and read as unknown`);
  return null;
}

/** The measures that a row of a file with one row per run states. */
function measuresOfRow(row: SourceRow, n: number | null, mapping: ColumnMapping, notes: ImportNotes): MeasureResult[] {
  const value = ({ column, scale }: MappedMeasure): number | null => {
    const found = numberIn(row, column, column, notes);
    return found === null ? null : found * scale;
  };
  const scalars = mapping.measures.filter(({ statistic }) => statistic === 'value');
  const figures = Map.groupBy(
    mapping.measures.filter(({ statistic }) => statistic !== 'value'),
    ({ measure, definition }) => `${measure} ${definition}`,
  );
  return [
    ...scalars.map((each) => statedScalar(each, value(each))),
    ...[...figures.values()].flatMap((each) => {
      const [first] = each;
      if (first === undefined) return [];
      const reported = Object.fromEntries(each.map((one) => [one.statistic, value(one)]));
      if (Object.values(reported).every((figure) => figure === null)) return [];
      return [statedDistribution(first, { ...reported, n, percentiles: reported })];
    }),
  ];
}

async function* oneRun(
  mapping: ColumnMapping,
  file: SourceFile,
  notes: ImportNotes,
  context: ImportContext,
): AsyncGenerator<ImportedRun> {
  const times = new IsoTimes(context.timeZone);
  const zero_ns = await earliestSent(mapping, file, times, context);
  if (zero_ns === null) throw new ImportRefusal(`${file.name}: no row has the time its request was sent`);
  const zero_ms = Math.floor(zero_ns / 1e6);
  const isWall = mapping.times === 'unix';
  if (times.lacksZone) notes.add(NO_ZONE);
  yield reportedRun({
    ...common(mapping),
    start: isWall && !times.lacksZone ? new Date(zero_ms).toISOString() : null,
    records: mappedRecords(mapping, file, isWall ? zero_ms * 1e6 : zero_ns, notes, context),
    notes,
  });
}

async function earliestSent(
  mapping: ColumnMapping,
  file: SourceFile,
  times: IsoTimes,
  { signal }: ImportContext,
): Promise<number | null> {
  let earliest: number | null = null;
  const unheard = new ImportNotes();
  for await (const row of rowsOf(file, unheard, { signal })) {
    const sent = new MappedRow(row, mapping, times, unheard).number('sent');
    if (sent !== null && (earliest === null || sent < earliest)) earliest = sent;
  }
  return earliest;
}

async function* mappedRecords(
  mapping: ColumnMapping,
  file: SourceFile,
  zero_ns: number,
  notes: ImportNotes,
  context: ImportContext,
): AsyncGenerator<RequestRecord> {
  let index = 0;
  const times = new IsoTimes(context.timeZone);
  for await (const row of rowsOf(file, notes, context)) {
    const record = recordOfRow(new MappedRow(row, mapping, times, notes), index, zero_ns, mapping);
    if (record === null)
      notes.count('records left out: the time of sending or of the end is missing', `row ${row.number}`);
    else {
      yield record;
      index += 1;
    }
  }
}

function common({
  tool,
  scenario,
  model,
  endpoint_type,
  streaming,
  concurrency,
}: ColumnMapping): Pick<ReportedFacts, 'tool' | 'format' | 'scenario' | 'key'> {
  const load = concurrency === null ? null : closedLoop(concurrency);
  return { tool, format: FORMAT, scenario, key: known({ model, endpoint_type, streaming, load }) };
}

/** Whether a mapping can read the file: a table with a head, or objects whose own members are numbers. */
export function isMappable({ name, head }: Pick<SourceFile, 'name' | 'head'>): boolean {
  const start = head.text.trimStart();
  if (start.startsWith('{') || start.startsWith('[')) return hasNumbers(head.firstObject ?? firstObjectIn(start));
  if (!/\.csv$/i.test(name)) return false;
  const [titles = [], row = []] = head.text.split('\n', 2).map((line) => line.trim().split(','));
  return titles.length > 1 && titles.every(isTitle) && row.length >= titles.length;
}

function isTitle(text: string): boolean {
  return /\p{L}/u.test(text);
}

/** Two are the least that a row of a benchmark has. */
function hasNumbers(object: unknown): boolean {
  return isObject(object) && Object.values(object).filter((value) => typeof value === 'number').length >= 2;
}

/** The first object of a text that may be cut after it; null when it is not whole, or no JSON. */
function firstObjectIn(text: string): unknown {
  const from = text.indexOf('{');
  for (let to = text.indexOf('}', from); from >= 0 && to >= 0; to = text.indexOf('}', to + 1)) {
    const piece = text.slice(from, to + 1);
    // A brace within a text or within a nested object ends nothing.
    if (count(piece, '{') > count(piece, '}')) continue;
    try {
      return JSON.parse(piece);
    } catch {
      return null;
    }
  }
  return null;
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}
