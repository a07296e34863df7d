import {
  FAMILY_SUFFIXES,
  parseLimits,
  type Exemplar,
  type Exposition,
  type ExpositionError,
  type Labels,
  type MetricType,
} from '../exposition.ts';
import { metricType, OPENMETRICS, parseGoFloat } from '../page/page-cursor.ts';
import type { MetadataLine, Page } from '../page/parsed-exposition.ts';
import { readPage } from '../page/read-page.ts';
import { parseExposition } from '../parse.ts';

/** The rest of the content type is what Prometheus sends. */
const CONTENT_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** The page as Prometheus reads it. Throws ExpositionError for the first MUST of OpenMetrics 1.0 that it breaks as well. */
export function parseOpenMetrics(bytes: Uint8Array): Exposition {
  const page = readPage(bytes, OPENMETRICS, parseLimits(undefined));
  new RulesWalk(page).run();
  return parseExposition(bytes, CONTENT_TYPE);
}

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
    this.require(offset, this.lineRule(offset) ?? exemplarRule(rows.exemplars.get(row)));
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

  /** The rule that the text of a line breaks where Prometheus reads it, or null. */
  private lineRule(offset: number): string | null {
    const { cursor } = this.page;
    const line = new TextDecoder().decode(cursor.bytes.subarray(offset, cursor.lineEnd(offset)));
    return /,\}/.test(line.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')) ? 'a comma before "}"' : null;
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

/** The rules between the samples of one point of a histogram or gauge histogram. */
class HistogramRules {
  private used = false;
  private bound = NaN;
  private value = 0;
  private count: number | null = null;
  private hasSum = false;
  private hasNegativeSum = false;
  /** `_sum` (only grows), not `_gsum`. */
  private isCounter = false;
  private hasNegativeBound = false;

  /** Adds the next sample of the point; returns the rule that it breaks, or null. */
  add({ suffix, bound, value }: OpenMetricsSample): string | null {
    if (suffix === '_created') return null;
    this.used = true;
    if (suffix === '_bucket') {
      const next = Number((bound ?? '').replace('Inf', 'Infinity'));
      if (next <= this.bound) return 'the buckets are not in ascending order of "le"';
      if (value < this.value) return 'the buckets are not cumulative';
      this.bound = next;
      this.value = value;
      if (next < 0) this.hasNegativeBound = true;
    } else if (suffix === '_count' || suffix === '_gcount') {
      this.count = value;
    } else {
      this.hasSum = true;
      if (suffix === '_sum') this.isCounter = true;
      if (value < 0) this.hasNegativeSum = true;
    }
    return null;
  }

  /** Ends the point; returns the rule that it breaks as a whole, or null. */
  end(): string | null {
    if (!this.used) return null;
    const { bound, value, count, hasSum, hasNegativeSum, isCounter, hasNegativeBound } = this;
    this.used = false;
    this.bound = NaN;
    this.value = 0;
    this.count = null;
    this.hasSum = this.hasNegativeSum = this.isCounter = this.hasNegativeBound = false;
    if (bound !== Infinity) return 'a histogram without the bucket "+Inf"';
    if (count !== null && count !== value) return 'the count is not the value of the bucket "+Inf"';
    if (hasSum !== (count !== null)) return 'a sum without a count, or a count without a sum';
    if (isCounter && hasNegativeBound) return 'a sum beside buckets below 0';
    if (hasNegativeSum && !hasNegativeBound) return 'a negative sum of values that are not negative';
    return null;
  }
}

interface OpenMetricsSample {
  readonly family: string;
  readonly type: MetricType;
  readonly suffix: string;
  /** Without the `le` of a bucket. */
  readonly labels: Labels;
  readonly bound: string | null;
  readonly value: number;
  readonly hasExemplar: boolean;
}

const MAX_EXEMPLAR_CHARACTERS = 128;

function exemplarRule(exemplar: Exemplar | undefined): string | null {
  const texts = Object.entries(exemplar?.labels ?? {}).flat();
  return texts.reduce((sum, text) => sum + [...text].length, 0) > MAX_EXEMPLAR_CHARACTERS
    ? `an exemplar with more than ${MAX_EXEMPLAR_CHARACTERS} characters of labels`
    : null;
}

const COUNTER_LIKE = ['_total', '_sum', '_count', '_bucket', '_gcount', '_gsum'];
const WHOLE = ['_count', '_bucket', '_gcount'];

/** The MUST of OpenMetrics 1.0 that one sample breaks, or null. */
function checkSampleRules(sample: OpenMetricsSample): string | null {
  const { family, type, suffix, labels, value } = sample;
  if (type === 'stateset') {
    if (!Object.hasOwn(labels, family)) return 'a state without the label of its family';
    if (value !== 0 && value !== 1) return 'a state that is neither 0 nor 1';
  }
  if (type === 'info' && value !== 1) return 'an info that is not 1';
  if (type === 'summary' && suffix === '') {
    const quantile = canonicalNumber(labels['quantile']);
    if (quantile === null || !(quantile >= 0 && quantile <= 1)) return 'a quantile that is not a number from 0 to 1';
    if (value < 0) return 'a negative value of a quantile';
  }
  if (suffix === '_bucket' && canonicalNumber(sample.bound ?? undefined) === null)
    return 'a bucket without a canonical "le"';
  if (COUNTER_LIKE.includes(suffix) && Number.isNaN(value)) return `${suffix} is NaN`;
  if (COUNTER_LIKE.includes(suffix) && suffix !== '_gsum' && value < 0) return `${suffix} is negative`;
  if (WHOLE.includes(suffix) && !Number.isInteger(value)) return `${suffix} is not an integer`;
  const mayHaveExemplar = suffix === '_bucket' || (type === 'counter' && suffix === '_total');
  if (sample.hasExemplar && !mayHaveExemplar) return 'an exemplar on something else than a bucket or a total';
  return null;
}

/** The number that an `le` or `quantile` writes: decimal, or `+Inf` and `-Inf` in exactly this form. */
function canonicalNumber(text: string | undefined): number | null {
  if (text === '+Inf') return Infinity;
  if (text === '-Inf') return -Infinity;
  const value = text === undefined ? undefined : parseGoFloat(text);
  return value === undefined || !Number.isFinite(value) ? null : value;
}
