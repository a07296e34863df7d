import {
  familyOfSample,
  type Duplicates,
  type MetricFamily,
  type MetricType,
  type Exemplar,
  type Exposition,
  type ExpositionFormat,
  type Labels,
  type NativeHistogramSample,
  type Sample,
  type SampleColumns,
} from '../exposition.ts';
import { makeLabels, type Dictionaries } from './byte-interner.ts';
import { metricType, type Dialect, type PageCursor } from './page-cursor.ts';

/** A family without its values. */
type FamilyLayout = Omit<MetricFamily, 'samples'>;

interface FamilyDraft {
  name: string;
  type: MetricType;
  help: string | null;
  unit: string | null;
  size: number;
}

/** Everything in a page except the values: scrapes that differ only in values share it. */
export class PageLayout {
  readonly dialect: Dialect;
  readonly dictionaries: Dictionaries;
  readonly nameIds: Int32Array;
  readonly labelSetIds: Int32Array;
  readonly boundIds: Int32Array;
  readonly duplicates: Duplicates;
  private readonly metadata: readonly MetadataLine[];
  private assembled: { families: readonly FamilyLayout[]; repeatedMetadata: number } | null = null;

  constructor(
    dialect: Dialect,
    dictionaries: Dictionaries,
    columns: { nameIds: Int32Array; labelSetIds: Int32Array; boundIds: Int32Array },
    metadata: readonly MetadataLine[],
    duplicates: Duplicates,
  ) {
    this.dialect = dialect;
    this.dictionaries = dictionaries;
    this.nameIds = columns.nameIds;
    this.labelSetIds = columns.labelSetIds;
    this.boundIds = columns.boundIds;
    this.metadata = metadata;
    this.duplicates = duplicates;
  }

  get families(): readonly FamilyLayout[] {
    return (this.assembled ??= this.assemble()).families;
  }

  get repeatedMetadata(): number {
    return (this.assembled ??= this.assemble()).repeatedMetadata;
  }

  /** Whether the page has these rows and this metadata, in this order. */
  isOf({ dialect, dictionaries, rows }: Pick<Page, 'dialect' | 'dictionaries' | 'rows'>): boolean {
    const { nameIds, labelSetIds, boundIds } = this;
    if (dialect.format !== this.dialect.format || dictionaries !== this.dictionaries) return false;
    if (rows.count !== nameIds.length || rows.metadata.length !== this.metadata.length) return false;
    for (let row = 0; row < rows.count; row++) {
      if (nameIds[row] !== rows.nameIds[row] || labelSetIds[row] !== rows.labelSetIds[row]) return false;
      if (boundIds[row] !== rows.boundIds[row]) return false;
    }
    return this.metadata.every(({ keyword, name, text, row }, i) => {
      const line = rows.metadata[i];
      return line?.row === row && line.name === name && line.keyword === keyword && line.text === text;
    });
  }

  private assemble(): { families: readonly FamilyLayout[]; repeatedMetadata: number } {
    const types = new Map<string, MetricType>();
    for (const { keyword, name, text } of this.metadata) {
      const type = keyword === 'TYPE' ? metricType(text, this.dialect) : undefined;
      if (type !== undefined && !types.has(name)) types.set(name, type);
    }
    const drafts: FamilyDraft[] = [];
    const indexes = new Map<string, number>();
    const indexOf = (name: string): number => {
      let index = indexes.get(name);
      if (index === undefined) {
        index = drafts.push({ name, type: types.get(name) ?? 'unknown', help: null, unit: null, size: 0 }) - 1;
        indexes.set(name, index);
      }
      return index;
    };

    // In the order of the page: a name's first row against the row at which a metadata line stood.
    const familyOfName = new Int32Array(this.dictionaries.names.length).fill(-1);
    const familyOfRow = new Int32Array(this.nameIds.length);
    let row = 0;
    const assignUntil = (end: number): void => {
      for (; row < end; row++) {
        const nameId = this.nameIds[row] as number;
        let index = familyOfName[nameId] as number;
        if (index < 0) {
          index = indexOf(familyOfSample(this.dictionaries.names[nameId] as string, types));
          familyOfName[nameId] = index;
        }
        familyOfRow[row] = index;
        (drafts[index] as FamilyDraft).size++;
      }
    };
    let repeatedMetadata = 0;
    const seen = new Set<string>();
    for (const { keyword, name, text, row: before } of this.metadata) {
      assignUntil(before);
      const draft = drafts[indexOf(name)] as FamilyDraft;
      const key = `${keyword} ${name}`;
      if (seen.has(key)) repeatedMetadata++;
      else if (keyword === 'HELP') draft.help = text === '' ? null : text;
      else if (keyword === 'UNIT') draft.unit = text === '' ? null : text;
      seen.add(key);
    }
    assignUntil(this.nameIds.length);
    return { families: withRows(drafts, familyOfRow), repeatedMetadata };
  }
}

function withRows(drafts: readonly FamilyDraft[], familyOfRow: Int32Array): FamilyLayout[] {
  const rows = drafts.map(({ size }) => new Int32Array(size));
  const filled = new Int32Array(drafts.length);
  for (let row = 0; row < familyOfRow.length; row++) {
    const family = familyOfRow[row] as number;
    const position = filled[family] as number;
    (rows[family] as Int32Array)[position] = row;
    filled[family] = position + 1;
  }
  return drafts.map(({ name, type, help, unit }, i) => ({ name, type, help, unit, rows: rows[i] as Int32Array }));
}

/** What differs between two scrapes of one layout. */
export interface PageValues {
  readonly values: Float64Array;
  readonly timestampsSeconds: Float64Array | null;
  readonly exemplars: ReadonlyMap<number, Exemplar>;
  readonly missingFinalNewline: boolean;
}

export class ParsedExposition implements Exposition {
  readonly format: ExpositionFormat;
  readonly formatFallback: string | null;
  readonly columns: SampleColumns;
  readonly missingFinalNewline: boolean;
  readonly nativeHistograms: readonly NativeHistogramSample[];
  private readonly layout: PageLayout;
  private familyList: readonly MetricFamily[] | null = null;
  private familyMap: ReadonlyMap<string, MetricFamily> | null = null;

  constructor(
    layout: PageLayout,
    page: PageValues,
    formatFallback: string | null,
    nativeHistograms: readonly NativeHistogramSample[] = [],
  ) {
    const { dictionaries } = layout;
    this.layout = layout;
    this.format = layout.dialect.format;
    this.formatFallback = formatFallback;
    this.nativeHistograms = nativeHistograms;
    this.missingFinalNewline = page.missingFinalNewline;
    this.columns = {
      count: page.values.length,
      names: dictionaries.names,
      nameIds: layout.nameIds,
      labelSets: dictionaries.labelSets.sets,
      labelSetIds: layout.labelSetIds,
      bounds: dictionaries.bounds,
      boundIds: layout.boundIds,
      values: page.values,
      timestampsSeconds: page.timestampsSeconds,
      exemplars: page.exemplars,
    };
  }

  get duplicates(): Duplicates {
    return this.layout.duplicates;
  }

  get repeatedMetadata(): number {
    return this.layout.repeatedMetadata;
  }

  get families(): readonly MetricFamily[] {
    return (this.familyList ??= this.layout.families.map((family) => new ColumnFamily(family, this.columns)));
  }

  family(name: string): MetricFamily | undefined {
    this.familyMap ??= new Map(this.families.map((family) => [family.name, family]));
    return this.familyMap.get(name);
  }
}

class ColumnFamily implements MetricFamily {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string | null;
  readonly unit: string | null;
  readonly rows: Int32Array;
  private readonly columns: SampleColumns;
  private sampleList: readonly Sample[] | null = null;

  constructor(family: FamilyLayout, columns: SampleColumns) {
    this.name = family.name;
    this.type = family.type;
    this.help = family.help;
    this.unit = family.unit;
    this.rows = family.rows;
    this.columns = columns;
  }

  get samples(): readonly Sample[] {
    return (this.sampleList ??= Array.from(this.rows, (row) => sampleOfRow(this.columns, row)));
  }
}

/** One row as an object. */
function sampleOfRow(columns: SampleColumns, row: number): Sample {
  const time = columns.timestampsSeconds?.[row] ?? NaN;
  return {
    name: columns.names[columns.nameIds[row] as number] as string,
    labels: labelsOfRow(columns, row),
    value: columns.values[row] as number,
    timestampSeconds: Number.isNaN(time) ? null : time,
    exemplar: columns.exemplars.get(row) ?? null,
  };
}

/** All labels of a row, `le` included (last). */
export function labelsOfRow(columns: SampleColumns, row: number): Labels {
  const labels = columns.labelSets[columns.labelSetIds[row] as number] as Labels;
  const boundId = columns.boundIds[row] as number;
  return boundId < 0 ? labels : makeLabels([...Object.entries(labels), ['le', columns.bounds[boundId] as string]]);
}

/** A HELP, TYPE or UNIT line. */
export interface MetadataLine {
  readonly keyword: 'HELP' | 'TYPE' | 'UNIT';
  readonly name: string;
  readonly text: string;
  /** Where the line starts, and how many samples stood before it. */
  readonly offset: number;
  readonly row: number;
}

/** The rows of a page while it is being read: growing columns. */
export class PageRows {
  count = 0;
  nameIds: Int32Array;
  labelSetIds: Int32Array;
  boundIds: Int32Array;
  values: Float64Array;
  /** Offset of the row's line. */
  lineStarts: Int32Array;
  timestampsSeconds: Float64Array | null = null;
  readonly exemplars = new Map<number, Exemplar>();
  readonly metadata: MetadataLine[] = [];

  constructor(capacity: number) {
    this.nameIds = new Int32Array(capacity);
    this.labelSetIds = new Int32Array(capacity);
    this.boundIds = new Int32Array(capacity);
    this.values = new Float64Array(capacity);
    this.lineStarts = new Int32Array(capacity);
  }

  push(nameId: number, labelSetId: number, boundId: number, value: number, lineStart: number): number {
    const row = this.count;
    if (row === this.values.length) this.grow();
    this.nameIds[row] = nameId;
    this.labelSetIds[row] = labelSetId;
    this.boundIds[row] = boundId;
    this.values[row] = value;
    this.lineStarts[row] = lineStart;
    this.count = row + 1;
    return row;
  }

  setTimestamp(row: number, seconds: number): void {
    this.timestampsSeconds ??= new Float64Array(this.values.length).fill(NaN);
    this.timestampsSeconds[row] = seconds;
  }

  private grow(): void {
    const capacity = Math.max(64, this.values.length * 2);
    const integers = (old: Int32Array): Int32Array => {
      const bigger = new Int32Array(capacity);
      bigger.set(old);
      return bigger;
    };
    this.nameIds = integers(this.nameIds);
    this.labelSetIds = integers(this.labelSetIds);
    this.boundIds = integers(this.boundIds);
    this.lineStarts = integers(this.lineStarts);
    const values = new Float64Array(capacity);
    values.set(this.values);
    this.values = values;
    if (this.timestampsSeconds !== null) {
      const timestamps = new Float64Array(capacity).fill(NaN);
      timestamps.set(this.timestampsSeconds);
      this.timestampsSeconds = timestamps;
    }
  }
}

/** A page that is read: its lines as rows. */
export interface Page {
  readonly cursor: PageCursor;
  readonly dialect: Dialect;
  readonly dictionaries: Dictionaries;
  readonly rows: PageRows;
  readonly missingFinalNewline: boolean;
}
