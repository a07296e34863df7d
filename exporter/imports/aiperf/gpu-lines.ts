import { Fields } from '../reading/fields.ts';
import { known } from '../importer.ts';
import { printable } from '../import-notes.ts';
import type { ImportNotes } from '../import-notes.ts';
import { readJsonLines } from '../reading/read-lines.ts';
import type { ReadTarget } from '../servers-of-stores.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';
import { wallNanoseconds } from './records.ts';
import { AIPERF_INTERVAL_NS, KeptScrapes, ScrapePages } from './scrape-page.ts';
import type { MetricFacts } from './scrape-page.ts';

/** A field of AIPerf's GPU telemetry as NVIDIA's DCGM exporter has it, and what AIPerf multiplied it with. */
interface GpuField {
  readonly family: string;
  readonly scale: number;
}

const field = (family: string, scale = 1): GpuField => ({ family, scale });

const MEGAJOULE_MJ = 1e9;
const MIB_PER_GB = 1e9 / 2 ** 20;
const PERCENT = 100;

/** Under the names before and since schema 1.5. */
const FIELDS: Readonly<Record<string, GpuField>> = {
  power_usage: field('DCGM_FI_DEV_POWER_USAGE'),
  energy_consumption: field('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', MEGAJOULE_MJ),
  utilization: field('DCGM_FI_DEV_GPU_UTIL'),
  memory_used: field('DCGM_FI_DEV_FB_USED', MIB_PER_GB),
  temperature: field('DCGM_FI_DEV_GPU_TEMP'),
  memory_utilization: field('DCGM_FI_DEV_MEM_COPY_UTIL'),
  mem_utilization: field('DCGM_FI_DEV_MEM_COPY_UTIL'),
  sm_utilization: field('DCGM_FI_PROF_SM_ACTIVE', 1 / PERCENT),
  decoder_utilization: field('DCGM_FI_DEV_DEC_UTIL'),
  encoder_utilization: field('DCGM_FI_DEV_ENC_UTIL'),
  xid_errors: field('DCGM_FI_DEV_XID_ERRORS'),
  power_violation: field('DCGM_FI_DEV_POWER_VIOLATION'),
};

const FACTS: ReadonlyMap<string, MetricFacts> = new Map(
  Object.values(FIELDS).map(({ family }) => {
    const isCounter = /ENERGY_CONSUMPTION|VIOLATION/.test(family);
    return [family, { type: isCounter ? 'counter' : 'gauge', description: null }] as const;
  }),
);

/** A line: what a source reported of one GPU at one moment. */
interface GpuLine {
  readonly at_ns: number;
  readonly gpu: string;
  readonly labels: Record<string, string>;
  readonly values: readonly (readonly [family: string, value: number])[];
}

/** Samples of a source that wait for earlier ones: AIPerf 0.13 writes the lines of one GPU seconds after those of another. */
const MAX_WAITING = 20_000;

/**
 * The GPUs of `gpu_telemetry_export.jsonl`, one target per source, as the page of a DCGM exporter would have them: then
 * energy is known as of a run of our own. Times are ns since `zero_ns`.
 */
export async function readGpuLines(
  file: SourceFile,
  zero_ns: bigint,
  notes: ImportNotes,
  reading: Reading,
): Promise<Map<string, ReadTarget>> {
  const sources = new Map<string, GpuSource>();
  for await (const { number, text, value } of readJsonLines(file, notes, reading)) {
    const at_ns = wallNanoseconds(text, 'timestamp_ns', zero_ns);
    if (at_ns === null) continue;
    const line = new Fields(value, notes, `line ${number}: `);
    // The second name is that of 0.13.
    const name = sourceName(line.text('dcgm_url') ?? line.text('telemetry_source_url'));
    const source = sources.get(name) ?? new GpuSource();
    sources.set(name, source);
    source.add(at_ns, line, notes);
  }
  return new Map(Array.from(sources, ([name, source]) => [name, source.finish()]));
}

function sourceName(url: string | null): string {
  return printable((url ?? 'gpu telemetry').replace(/\/\/[^/@]*@/, '//').replace(/[?#].*$/, ''));
}

class GpuSource {
  readonly #target = new KeptScrapes(new ScrapePages(FACTS));
  #waiting: GpuLine[] = [];

  add(at_ns: number, line: Fields, notes: ImportNotes): void {
    const gpu = line.text('gpu_uuid') ?? String(line.number('gpu_index') ?? '');
    const telemetry = line.at('telemetry_data');
    const values = telemetry.names.flatMap((name) => {
      const field = fieldOf(name);
      const value = field === undefined ? null : telemetry.number(name);
      if (field === undefined) notes.notUnderstood(`telemetry_data.${name}`);
      return field === undefined || value === null ? [] : [[field.family, value * field.scale] as const];
    });
    this.#waiting.push({ at_ns, gpu, labels: labelsOf(line), values });
    if (this.#waiting.length > MAX_WAITING) this.#record(MAX_WAITING / 2);
  }

  finish(): ReadTarget {
    this.#record(this.#waiting.length);
    return { ...this.#target.finish(), system: null };
  }

  /** Records the first samples in the order of time: those of different GPUs so close together are one scrape. */
  #record(count: number): void {
    const ordered = this.#waiting.sort((a, b) => a.at_ns - b.at_ns);
    this.#waiting = ordered.slice(count);
    let scrape: GpuLine[] = [];
    for (const sample of ordered.slice(0, count)) {
      const [first = sample] = scrape;
      const isNext =
        sample.at_ns - first.at_ns > AIPERF_INTERVAL_NS / 2 || scrape.some(({ gpu }) => gpu === sample.gpu);
      if (isNext) {
        this.#recordPage(scrape);
        scrape = [];
      }
      scrape.push(sample);
    }
    this.#recordPage(scrape);
  }

  #recordPage(scrape: readonly GpuLine[]): void {
    const at_ns = scrape[0]?.at_ns;
    if (at_ns === undefined) return;
    const metrics = Object.create(null) as Record<string, { labels: Record<string, string>; value: number }[]>;
    for (const { labels, values } of scrape) {
      for (const [family, value] of values) (metrics[family] ??= []).push({ labels, value });
    }
    this.#target.record(at_ns, metrics);
  }
}

/** A name may carry the vendor's, `nvidia_gpu_utilization`, or `gpu_`. */
function fieldOf(name: string): GpuField | undefined {
  const short = name.replace(/^nvidia_/, '').replace(/^gpu_/, '');
  return Object.hasOwn(FIELDS, short) ? FIELDS[short] : undefined;
}

function labelsOf(line: Fields): Record<string, string> {
  const labels = known({
    gpu: line.number('gpu_index'),
    UUID: line.text('gpu_uuid'),
    modelName: line.text('gpu_model_name'),
    Hostname: line.text('hostname'),
  });
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}
