import type {
  Duplicates,
  Exemplar,
  Exposition,
  ExpositionFormat,
  Labels,
  MetricFamily,
  MetricType,
  NativeHistogramSample,
  Sample,
  SampleColumns,
} from '../exposition.ts';
import { makeLabels } from './label-sets.ts';
import type { FamilyLayout, PageLayout } from './page-layout.ts';

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
export function sampleOfRow(columns: SampleColumns, row: number): Sample {
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
