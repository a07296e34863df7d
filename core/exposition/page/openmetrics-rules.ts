import type { MetricType } from '../exposition.ts';
import type { ExpositionError } from '../exposition-error.ts';
import { FAMILY_SUFFIXES } from '../family-suffixes.ts';
import { metricType } from './metadata-line.ts';
import { HistogramRules } from './openmetrics-histogram-rules.ts';
import { checkSampleRules } from './openmetrics-sample-rules.ts';
import type { OpenMetricsSample } from './openmetrics-sample-rules.ts';
import type { MetadataLine } from './page-rows.ts';
import type { Page } from './read-page.ts';

/** The family whose lines are being checked. */
class OpenFamily {
  readonly name: string;
  readonly offset: number;
  type: MetricType = 'unknown';
  unit = '';
  readonly keywords = new Set<string>();
  hasSamples = false;
  readonly groups = new Set<number>();
  group = -1;
  groupTime = NaN;
  readonly histogram = new HistogramRules();

  constructor(name: string, offset: number) {
    this.name = name;
    this.offset = offset;
  }

  owns(sampleName: string): boolean {
    return sampleName.startsWith(this.name) && FAMILY_SUFFIXES[this.type].includes(sampleName.slice(this.name.length));
  }
}

/** Throws ExpositionError for the first MUST of OpenMetrics 1.0 that a syntactically correct page breaks. */
export function checkOpenMetricsRules(page: Page): void {
  new RulesWalk(page).run();
}

class RulesWalk {
  private readonly page: Page;
  private readonly usedNames = new Set<string>();
  private family: OpenFamily | null = null;

  constructor(page: Page) {
    this.page = page;
  }

  run(): void {
    const { rows } = this.page;
    let row = 0;
    for (const line of rows.metadata) {
      while (row < line.row) this.sample(row++);
      this.metadata(line);
    }
    while (row < rows.count) this.sample(row++);
    this.close();
  }

  private metadata(line: MetadataLine): void {
    if (this.family?.name === line.name && this.family.hasSamples)
      throw this.error(line.offset, 'metadata behind the samples of its family');
    if (this.family?.name !== line.name) this.open(line.name, line.offset);
    const family = this.family as OpenFamily;
    if (family.keywords.has(line.keyword)) throw this.error(line.offset, `a second ${line.keyword} for one family`);
    family.keywords.add(line.keyword);
    if (line.keyword === 'TYPE') family.type = metricType(line.text, this.page.dialect) ?? 'unknown';
    if (line.keyword === 'UNIT') family.unit = line.text;
  }

  private sample(row: number): void {
    const { rows, dictionaries } = this.page;
    const offset = rows.lineStarts[row] as number;
    const name = dictionaries.names[rows.nameIds[row] as number] as string;
    if (this.family === null || !this.family.owns(name)) this.open(name, offset);
    const family = this.family as OpenFamily;
    family.hasSamples = true;
    const boundId = rows.boundIds[row] as number;
    const sample: OpenMetricsSample = {
      family: family.name,
      type: family.type,
      suffix: name.slice(family.name.length),
      labels: dictionaries.labelSets.sets[rows.labelSetIds[row] as number] ?? {},
      bound: boundId < 0 ? null : (dictionaries.bounds[boundId] as string),
      value: rows.values[row] as number,
      hasExemplar: rows.exemplars.has(row),
    };
    this.require(offset, checkSampleRules(sample));
    this.group(row, offset, sample);
  }

  /** Metrics (label sets) and their points are not interleaved, and time does not go backwards in a metric. */
  private group(row: number, offset: number, sample: OpenMetricsSample): void {
    const family = this.family as OpenFamily;
    const group = this.groupOf(row, sample);
    const time = this.page.rows.timestampsSeconds?.[row] ?? NaN;
    if (group !== family.group && family.groups.has(group)) throw this.error(offset, 'metrics are interleaved');
    if (group === family.group) {
      if (Number.isNaN(time) !== Number.isNaN(family.groupTime))
        throw this.error(offset, 'some samples of a metric have a timestamp, some not');
      if (time < family.groupTime && family.type !== 'info') throw this.error(offset, 'timestamps go backwards');
    }
    if (family.type === 'histogram' || family.type === 'gaugehistogram') {
      const newPoint = group !== family.group || !Object.is(time, family.groupTime);
      if (newPoint) this.require(offset, family.histogram.end());
      this.require(offset, family.histogram.add(sample));
    }
    family.groups.add(group);
    family.group = group;
    family.groupTime = time;
  }

  private groupOf(row: number, sample: OpenMetricsSample): number {
    if (sample.type === 'info') return 0;
    const { rows, dictionaries } = this.page;
    const ownLabel = sample.type === 'stateset' ? sample.family : 'quantile';
    if (sample.type !== 'stateset' && !(sample.type === 'summary' && sample.suffix === ''))
      return rows.labelSetIds[row] as number;
    return dictionaries.labelSets.intern(Object.entries(sample.labels).filter(([label]) => label !== ownLabel));
  }

  private open(name: string, offset: number): void {
    this.close();
    this.family = new OpenFamily(name, offset);
  }

  private close(): void {
    const { family } = this;
    if (family === null) return;
    for (const suffix of new Set([...FAMILY_SUFFIXES[family.type], ''])) {
      if (this.usedNames.has(family.name + suffix))
        throw this.error(family.offset, 'the family clashes with another, or its lines are not together');
      this.usedNames.add(family.name + suffix);
    }
    if (family.unit !== '' && (family.type === 'info' || family.type === 'stateset'))
      throw this.error(family.offset, `a unit on a family of type ${family.type}`);
    this.require(family.offset, family.histogram.end());
  }

  private require(offset: number, broken: string | null): void {
    if (broken !== null) throw this.error(offset, broken);
  }

  private error(offset: number, reason: string): ExpositionError {
    return this.page.cursor.error(offset, reason);
  }
}
