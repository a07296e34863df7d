/** Draws of one seeded history. */
export interface Draw {
  chance(probability: number): boolean;
  /** Both ends included. */
  whole(low: number, high: number): number;
  of<T>(values: readonly T[]): T;
}

/** What the pages of a process report about its start. */
export type StartEvidence = 'none' | 'process' | 'created' | 'uptime';

export interface ProcessFacts {
  /** The value of `label` of all its series; null: none. */
  readonly worker: string | null;
  /** The name of the label that names workers. */
  readonly label: string;
  readonly start: StartEvidence;
  /** Workers of which it counts what it sends to them, although it is one process. */
  readonly routes: readonly string[];
  /** The pages have no TYPE for histograms. */
  readonly untyped: boolean;
  /** In front of the names of its families. */
  readonly prefix: string;
  /** 1: it had served requests before the first page. */
  readonly served: 0 | 1;
}

interface ModelSeries {
  readonly name: string;
  readonly labels: string;
  readonly kind: 'counter' | 'histogram';
  /** Exposed from the start of the process, not from its first observation. */
  readonly early: boolean;
  /** Most observations between two pages. */
  readonly rate: number;
  /** Observations by value, 0 to 9; a counter has one place. */
  readonly observed: number[];
  sum: number;
  bounds: number[];
}

/** One server process that counts, restarts and writes its page; a collector sees only its pages. */
export class ModelProcess {
  life = 0;
  readonly #draw: Draw;
  readonly #facts: ProcessFacts;
  readonly #series: ModelSeries[];
  #startSeconds: number;

  constructor(draw: Draw, facts: ProcessFacts) {
    this.#draw = draw;
    this.#facts = facts;
    this.#startSeconds = -draw.whole(100, 5000);
    const label = (more: string): string => {
      const pairs = [
        ...(facts.worker === null ? [] : [`${facts.label}="${facts.worker}"`]),
        ...(more === '' ? [] : [more]),
      ];
      return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
    };
    const make = (name: string, kind: ModelSeries['kind'], more = ''): ModelSeries => ({
      name: `${facts.prefix}${name}`,
      labels: label(more),
      kind,
      early: draw.chance(0.5),
      rate: draw.of([0, 2, 20, 300]),
      observed: new Array<number>(kind === 'counter' ? 1 : 10).fill(0),
      sum: 0,
      bounds: [1, 3, 5],
    });
    const routed = facts.routes.map((worker) => make('routed_total', 'counter', `${facts.label}="${worker}"`));
    this.#series = [
      make('requests_total', 'counter', 'status="ok"'),
      make('requests_total', 'counter', 'status="error"'),
      make('tokens_total', 'counter'),
      make('latency_seconds', 'histogram'),
      make('ttft_seconds', 'histogram'),
      ...routed,
    ];
    if (facts.served === 1) for (let i = draw.whole(1, 60); i > 0; i--) this.observe();
  }

  /** Whether one of its pages reports when it started, regardless of what it counted. */
  get showsStart(): boolean {
    return this.#facts.start === 'process' || this.#facts.start === 'uptime';
  }

  /** Whether its page has any counts. */
  get isVisible(): boolean {
    return this.#shown().length > 0;
  }

  /** Whether it never counts anything, and the other one shows the same series, or others only above 0. */
  looksLikeRestartOf(other: ModelProcess): boolean {
    return this.#series.every((series, i) => {
      const its = other.#series[i] as ModelSeries;
      return series.rate === 0 && (total(its) > 0 || series.early === its.early);
    });
  }

  /** Started in the same second as another. */
  startWith(other: ModelProcess): void {
    this.#startSeconds = other.#startSeconds;
  }

  restart(atSeconds: number): void {
    this.life += 1;
    this.#startSeconds = atSeconds;
    for (const series of this.#series) {
      series.observed.fill(0);
      series.sum = 0;
    }
  }

  observe(): void {
    for (const series of this.#series) {
      for (let n = this.#draw.whole(0, series.rate); n > 0; n--) {
        const value = series.kind === 'counter' ? 0 : this.#draw.whole(0, 9);
        series.observed[value] = (series.observed[value] ?? 0) + 1;
        // Occasionally a value below 0: the sum decreases.
        series.sum += this.#draw.chance(0.01) ? -value : value + 0.1;
      }
    }
  }

  /** Another set of buckets in the running process. */
  changeBounds(): void {
    const series = this.#draw.of(this.#series.filter(({ kind }) => kind === 'histogram'));
    series.bounds = this.#draw.of([[1, 3, 5], [1, 2, 3, 5], [3], [2, 4], []]);
  }

  /** Observations by series since the process started, shown or not. */
  counts(): Map<string, number> {
    return new Map(this.#series.map((series) => [`${series.name}${series.labels}`, total(series)]));
  }

  /** Each number on the page that never decreases while the process runs. */
  numbers(): Map<string, number> {
    return new Map(
      this.#shown().flatMap((series) => {
        const key = `${series.name}${series.labels}`;
        const buckets = series.bounds.map((bound): [string, number] => [`${key} ${bound}`, below(series, bound)]);
        const created: [string, number][] = this.#facts.start === 'created' ? [[`${key} life`, -this.life]] : [];
        return [[key, total(series)] as [string, number], ...(series.kind === 'counter' ? [] : buckets), ...created];
      }),
    );
  }

  page(nowSeconds: number): string {
    const { start, worker, label, untyped, prefix } = this.#facts;
    const started = 1_700_000_000 + this.#startSeconds;
    const own = worker === null ? '' : `{${label}="${worker}"}`;
    const lines: string[] = [];
    if (start === 'process') lines.push(`process_start_time_seconds${own} ${started}`);
    if (start === 'uptime') lines.push(`model_uptime_seconds${own} ${nowSeconds - this.#startSeconds}`);
    lines.push(`# TYPE ${prefix}running gauge`, `${prefix}running${own} ${this.#draw.whole(0, 9)}`);
    for (const series of this.#shown()) {
      const { name, labels, kind } = series;
      if (kind === 'counter' || !untyped) lines.push(`# TYPE ${name} ${kind}`);
      if (kind === 'counter') lines.push(`${name}${labels} ${total(series)}`);
      else {
        const le = (bound: string): string =>
          `{${[...(labels === '' ? [] : [labels.slice(1, -1)]), `le="${bound}"`].join(',')}}`;
        for (const bound of series.bounds) lines.push(`${name}_bucket${le(String(bound))} ${below(series, bound)}`);
        lines.push(
          `${name}_bucket${le('+Inf')} ${total(series)}`,
          `${name}_sum${labels} ${series.sum}`,
          `${name}_count${labels} ${total(series)}`,
        );
      }
      const created = `${name.replace(/_total$/, '')}_created`;
      if (start === 'created') lines.push(`# TYPE ${created} gauge`, `${created}${labels} ${started}`);
    }
    return `${lines.join('\n')}\n`;
  }

  #shown(): ModelSeries[] {
    return this.#series.filter((series) => series.early || total(series) > 0);
  }
}

const total = ({ observed }: ModelSeries): number => observed.reduce((sum, count) => sum + count, 0);

const below = ({ observed }: ModelSeries, bound: number): number =>
  observed.slice(0, bound + 1).reduce((sum, count) => sum + count, 0);
