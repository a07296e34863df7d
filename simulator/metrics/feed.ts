import type { CatalogFamily, Follows } from '../../catalog/types.ts';
import type { EngineEvent, EngineState } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { Family, Histogram, Labels, Scalar, Series, Summary } from './family.ts';
import type { MetricsPage, PageFamily } from './page.ts';
import { ENGINE_SIGNALS, reportOccasions } from './signals.ts';
import type { Signal, Signals } from './signals.ts';

interface FeedOptions {
  readonly parameters: EngineParameters;
  /** Signals of the system's own, beside the engine's. */
  readonly signals?: Signals;
  /** Labels that are known beforehand. */
  readonly labels?: Labels;
  /** Labels that an event gives. */
  readonly labelsOf?: Readonly<Record<string, (event: never) => string>>;
  /** Values of labels that differ from the catalog's, which are those of another configuration. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
  /** Whether values are in the units of the families already, not in base units. */
  readonly inPageUnits?: boolean;
  /** Families that are fed. Default: all of the page. */
  readonly families?: (facts: CatalogFamily) => boolean;
  /** Whether all series of a family are there from the start, at 0. Default: unless it is exposed on use. */
  readonly fromStart?: (facts: CatalogFamily) => boolean;
}

/**
 * Lets the series of a page follow what happens, as the catalog says. A family that is there from the start has all its
 * series then, at 0, for each value of its labels; another has a series when there is a value for it.
 */
export class Feed {
  readonly #page: MetricsPage;
  readonly #options: FeedOptions;
  readonly #signals: Signals;
  readonly #inputs = new Map<string, Input[]>();

  /** @throws Error when a family follows a signal that there is not, or has a label whose value is not known */
  constructor(page: MetricsPage, options: FeedOptions) {
    this.#page = page;
    this.#options = options;
    this.#signals = { ...ENGINE_SIGNALS, ...options.signals };
    for (const family of page.entries()) if (options.families?.(family.facts) !== false) this.#add(family);
    this.report('start', undefined);
  }

  /** Takes up what the engine did, in its order. */
  observe(events: readonly EngineEvent[]): void {
    for (const event of events) reportOccasions(event, this);
  }

  /** Sets the gauges to the state of the engine. */
  update(state: EngineState): void {
    this.report('state', state);
  }

  /** Something happened, of the engine or of the system's own. */
  report(occasion: string, event: unknown): void {
    const inputs = this.#inputs.get(occasion);
    if (inputs === undefined) return;
    for (const input of inputs) input(event);
  }

  /** The page as its server writes it. */
  text(): string {
    return this.#page.text();
  }

  /** A series of a gauge or counter, with these labels beside the known ones. */
  scalar(name: string, labels: Labels = {}): Scalar {
    return this.#page.scalar(name, { ...this.#known(this.#page.get(name).labels), ...labels });
  }

  histogram(name: string, labels: Labels = {}): Histogram {
    return this.#page.histogram(name, { ...this.#known(this.#page.get(name).labels), ...labels });
  }

  #known(labels: readonly string[]): Labels {
    const { labels: known = {} } = this.#options;
    return Object.fromEntries(labels.flatMap((label) => (label in known ? [[label, known[label] ?? '']] : [])));
  }

  #add({ facts, family, labels }: PageFamily): void {
    const known = this.#known(labels);
    const { fromStart = ({ exposed }: CatalogFamily) => exposed !== 'on_use' } = this.#options;
    const isThere = fromStart(facts);
    if (isThere) for (const open of this.#combinations(facts, labels, known)) family.series({ ...known, ...open });
    for (const { source, labels: own } of sourcesOf(facts.follows)) {
      if (typeof source === 'number' && isThere) this.scalar(facts.name, own).value = source;
      else this.#follow({ facts, family, labels }, source, { ...known, ...own });
    }
  }

  /** All values of the labels that are not known; none when an event gives one of them. */
  #combinations({ label_values = {} }: CatalogFamily, labels: readonly string[], known: Labels): Labels[] {
    const { values = {}, labelsOf = {} } = this.#options;
    let all: Labels[] = [{}];
    for (const label of labels) {
      if (label in known) continue;
      const each = values[label] ?? (label in labelsOf ? [] : (label_values[label] ?? []));
      all = all.flatMap((labels) => each.map((value) => ({ ...labels, [label]: value })));
    }
    return all;
  }

  #follow({ facts, family, labels }: PageFamily, source: string | number, known: Labels): void {
    const { labelsOf = {}, parameters } = this.#options;
    const signal: Signal | undefined =
      typeof source === 'string' ? this.#signals[source] : { occasion: 'state', value: () => source, isTotal: true };
    if (signal === undefined) throw new Error(`${facts.name} follows ${source}, which is no signal`);
    const open = labels.filter((label) => !(label in known));
    for (const label of open) {
      if (labelsOf[label] === undefined) throw new Error(`${facts.name}: no value of the label ${label}`);
    }
    const find = open.length === 0 ? onlySeries(family, known) : seriesByLabels(family, known, open, labelsOf);
    const take = takerOf(family.type, signal.isTotal);
    // Units below the base unit are whole parts of it: times 1000 is exact where divided by 0.001 is not.
    const factor = this.#options.inPageUnits === true ? 1 : (facts.factor ?? 1);
    const scale = factor < 1 ? (value: number) => value * Math.round(1 / factor) : (value: number) => value / factor;
    const inputs = this.#inputs.get(signal.occasion) ?? [];
    this.#inputs.set(signal.occasion, inputs);
    inputs.push((event) => {
      const value = signal.value(event as never, parameters);
      if (value !== null) take(find(event) as never, factor === 1 ? value : scale(value));
    });
  }
}

type Input = (event: unknown) => void;

/** The series with these labels, once there is something for it. */
function onlySeries(family: Family, labels: Labels): (event: unknown) => Series {
  let series: Series | null = null;
  return () => (series ??= family.series(labels));
}

/** The series whose open labels have the values that an event gives. */
function seriesByLabels(
  family: Family,
  known: Labels,
  open: readonly string[],
  labelsOf: NonNullable<FeedOptions['labelsOf']>,
): (event: unknown) => Series {
  const made = new Map<string, Series>();
  return (event) => {
    const values = open.map((label) => labelsOf[label]?.(event as never) ?? '');
    const key = values.join('\n');
    const found = made.get(key);
    if (found !== undefined) return found;
    const series = family.series({ ...known, ...Object.fromEntries(open.map((label, i) => [label, values[i] ?? ''])) });
    made.set(key, series);
    return series;
  };
}

/** How a series takes a value up. */
function takerOf(type: Family['type'], isTotal: boolean): (series: never, value: number) => void {
  if (type === 'histogram' || type === 'summary') return (series: Histogram | Summary, value) => series.observe(value);
  if (type === 'counter' && !isTotal) return (series: Scalar, value) => series.add(value);
  return (series: Scalar, value) => {
    series.value = value;
  };
}

interface Source {
  /** Name of a signal, or a value that stays. */
  readonly source: string | number;
  /** Labels of the series that follows it. */
  readonly labels: Labels;
}

/** What each series of a family follows. */
function sourcesOf(follows: Follows | undefined, labels: Labels = {}): Source[] {
  if (follows === undefined) return [];
  if (typeof follows === 'string' || typeof follows === 'number') return [{ source: follows, labels }];
  if (isList(follows)) return follows.flatMap((each) => sourcesOf(each, labels));
  return Object.entries(follows).flatMap(([label, byValue]) =>
    Object.entries(byValue).flatMap(([value, each]) => sourcesOf(each, { ...labels, [label]: value })),
  );
}

const isList = (follows: Follows): follows is readonly Follows[] => Array.isArray(follows);
