import type { Registry } from 'prom-client';
import { CONTENT_TYPES, seriesStart, valueText, type FamilyInput } from '../../core/exposition/index.ts';
import { LIVE_GRIDS } from '../../core/measures/grids.ts';
import type { PhaseName, RequestRecord } from '../../core/run/record.ts';
import type { RunFile } from '../../core/run/run.ts';
import type { RunEvents } from '../../core/run/run-output.ts';
import type { LiveFamily } from './family.ts';
import { readFamilies, registryOf } from './family.ts';
import { LatencyHistograms } from './latency-histograms.ts';
import { LiveHistogram } from './live-histogram.ts';
import { LiveTargets } from './live-targets.ts';
import { liveFamilies } from './live-families.ts';
import type { RunFamily, LiveSource } from './live-runs-page.ts';
import { keptFamily, pagePieces, type KeptFamily } from './metrics-page.ts';
import type { RenderedPage, MetricsPage } from './metrics-page.ts';
import { negotiateFormat } from './negotiate-format.ts';
import { stagesOf, type LiveRunFacts } from './run-info.ts';
import { RunTally } from './run-tally.ts';
import type { ScrapedTarget } from './target-info.ts';

/** The live families of the metric contract for one run: an observer of it, and a page that can be scraped. */
export interface LiveMetrics extends Required<RunEvents>, MetricsPage, LiveSource {
  /** What the page shows, for those who send it themselves. */
  readonly families: readonly LiveFamily[];
  render(accept: string | undefined): Promise<RenderedPage>;
  /** After the last request: whether this process may be what was measured. */
  end(saturated: boolean): void;
  /** Which metrics pages have been read so far. */
  targetsRead(targets: readonly ScrapedTarget[]): void;
}

/**
 * The live metrics of a run, in a registry of their own. Every series exists from the start, at 0. Throws a `RangeError`
 * for a run that has no start, such as an import: it has no live metrics.
 */
export function createLiveMetrics(facts: LiveRunFacts): LiveMetrics {
  return new RegistryLiveMetrics(facts);
}

class RegistryLiveMetrics implements LiveMetrics {
  readonly families: readonly LiveFamily[];
  readonly #tally: RunTally;
  readonly #targets: LiveTargets;
  readonly #latencies: LatencyHistograms;
  readonly #eventLoopDelay: LiveHistogram;
  readonly #registry: Registry;
  readonly #histograms: ReadonlyMap<string, HistogramText>;
  readonly #ofProcess: ReadonlySet<string>;

  constructor(facts: LiveRunFacts) {
    const labels = { run_id: facts.run.run_id, shard: facts.run.shard };
    this.#tally = new RunTally(startOf(facts.run), facts.isGood ?? null, stagesOf(facts.run).length);
    this.#targets = new LiveTargets(labels);
    this.#latencies = new LatencyHistograms('llmbench_', labels);
    this.#eventLoopDelay = new LiveHistogram(
      'llmbench_client_event_loop_delay_seconds',
      'Delay of a timer of the client, sampled during the measure phase.',
      labels,
      LIVE_GRIDS.client_event_loop_delay,
    );
    const histograms = [...this.#latencies.families, this.#eventLoopDelay];
    this.families = liveFamilies(facts, labels, this.#tally, this.#targets, histograms);
    this.#registry = registryOf(this.families);
    this.#histograms = new Map(histograms.map(({ name }) => [name, new HistogramText()]));
    this.#ofProcess = new Set(this.families.filter(({ ofProcess }) => ofProcess).map(({ name }) => name));
  }

  phaseStarted(phase: PhaseName, at_ns: number): void {
    this.#tally.begin(this.#tally.phases[phase], at_ns);
  }

  phaseEnded(phase: PhaseName, at_ns: number): void {
    this.#tally.end(this.#tally.phases[phase], at_ns);
  }

  stageStarted(stage: number, at_ns: number): void {
    this.#tally.begin(this.#tally.stages[stage - 1], at_ns);
  }

  stageEnded(stage: number, at_ns: number): void {
    this.#tally.end(this.#tally.stages[stage - 1], at_ns);
  }

  requestSent(phase: PhaseName, due_ns: number, sent_ns: number): void {
    this.#tally.inFlight += 1;
    if (phase === 'measure') this.#latencies.requestSent(sent_ns - due_ns);
  }

  firstContent(phase: PhaseName, sinceSent_ns: number, sinceDue_ns: number): void {
    this.#tally.phases[phase].chunks += 1;
    if (phase === 'measure') this.#latencies.firstContent(sinceSent_ns, sinceDue_ns);
  }

  chunkGap(phase: PhaseName, gap_ns: number): void {
    this.#tally.phases[phase].chunks += 1;
    if (phase === 'measure') this.#latencies.chunkGap(gap_ns);
  }

  requestEnded(record: RequestRecord): void {
    this.#tally.requestEnded(record);
    if (record.phase === 'measure') this.#latencies.requestEnded(record);
  }

  eventLoopDelay(delay_ns: number): void {
    if (this.#tally.phases.measure.active) this.#eventLoopDelay.observe(delay_ns / 1e9);
  }

  clientSaturated(saturated: boolean): void {
    this.#tally.clientSaturated = saturated;
  }

  end(saturated: boolean): void {
    this.clientSaturated(saturated);
  }

  targetsRead(targets: readonly ScrapedTarget[]): void {
    this.#targets.read(targets);
  }

  async render(accept: string | undefined): Promise<RenderedPage> {
    const format = negotiateFormat(accept);
    const body = Buffer.concat(pagePieces(await this.lines(), format)).toString();
    return { contentType: CONTENT_TYPES[format], body };
  }

  async lines(): Promise<readonly RunFamily[]> {
    const families = await readFamilies(this.#registry);
    return families.map((family) => ({
      ...(this.#histograms.get(family.name)?.write(family) ?? keptFamily(family)),
      ofProcess: this.#ofProcess.has(family.name),
    }));
  }
}

/** Wall time of the run's monotonic zero, in milliseconds since the epoch. */
function startOf(run: RunFile): number {
  const start = run.start === null ? NaN : Date.parse(run.start);
  if (Number.isNaN(start)) throw new RangeError(`run ${run.run_id} has no start: it has no live metrics`);
  return start;
}

/**
 * Writes one histogram again and again: its series and their order never change, so that names and labels, most of the
 * work, are written only once.
 */
class HistogramText {
  #starts: readonly string[] | null = null;

  /** Throws an `ExpositionWriteError` when the family cannot be written. */
  write({ name, help, type, samples }: FamilyInput): KeptFamily {
    this.#starts ??= samples.map(
      ({ metricName = name, labels, sharedLabels }) => `${seriesStart(metricName, { ...sharedLabels, ...labels })} `,
    );
    let lines = '';
    for (const [i, { value }] of samples.entries()) lines += `${this.#starts[i] ?? ''}${valueText(value)}\n`;
    return { name, help, type, lines: Buffer.from(lines), series: samples.length };
  }
}
