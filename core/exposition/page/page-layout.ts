import type { Dialect } from './dialect.ts';
import type { Dictionaries } from './dictionaries.ts';
import type { Duplicates, MetricFamily, MetricType } from '../exposition.ts';
import { familyOfSample } from '../family-suffixes.ts';
import { metricType } from './metadata-line.ts';
import type { MetadataLine } from './page-rows.ts';
import type { Page } from './read-page.ts';

/** A family without its values. */
export type FamilyLayout = Omit<MetricFamily, 'samples'>;

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
