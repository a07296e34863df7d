import { createScrapeParser } from '../../../core/exposition/index.ts';
import { TargetStore } from '../../servers/series/target-store.ts';
import { Fields } from '../reading/fields.ts';
import { printable } from '../import-notes.ts';
import type { ImportNotes } from '../import-notes.ts';
import { lineObject, longLineNote } from '../reading/read-json-lines.ts';
import { readLineBlocks } from '../reading/read-lines.ts';
import type { ReadTarget } from '../servers-of-stores.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';
import { ScrapePages } from './scrape-page.ts';
import type { MetricFacts } from './scrape-page.ts';
import { AIPERF_INTERVAL_NS } from './server-lines.ts';
import { wallNanoseconds } from './wall-nanoseconds.ts';

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
  for await (const { bytes, edges, firstNumber, endsOpen } of readLineBlocks(file, reading, longLineNote(notes))) {
    for (let i = 0; i < edges.length; i += 2) {
      const number = firstNumber + i / 2;
      const text = bytes.toString('utf8', edges[i], edges[i + 1]);
      const mayBeTorn = endsOpen && i + 2 === edges.length;
      const value = lineObject(text, { file, number, mayBeTorn }, notes);
      const at_ns = wallNanoseconds(text, 'timestamp_ns', zero_ns);
      if (value === null || at_ns === null) continue;
      const line = new Fields(value, notes, `line ${number}: `);
      // The second name is that of 0.13.
      const name = sourceName(line.text('dcgm_url') ?? line.text('telemetry_source_url'));
      const source = sources.get(name) ?? new GpuSource();
      sources.set(name, source);
      source.add(at_ns, line, notes);
    }
  }
  return new Map(Array.from(sources, ([name, source]) => [name, { store: source.finish(), system: null }]));
}

function sourceName(url: string | null): string {
  return printable((url ?? 'gpu telemetry').replace(/\/\/[^/@]*@/, '//').replace(/[?#].*$/, ''));
}

class GpuSource {
  readonly #store = new TargetStore();
  readonly #parser = createScrapeParser();
  readonly #pages = new ScrapePages(FACTS);
  #waiting: GpuLine[] = [];

  add(at_ns: number, line: Fields, notes: ImportNotes): void {
    const gpu = line.text('gpu_uuid') ?? String(line.number('gpu_index') ?? '');
    const telemetry = line.object('telemetry_data');
    const values = (telemetry?.names ?? []).flatMap((name) => {
      const known = fieldOf(name);
      const value = known === undefined ? null : (telemetry?.number(name) ?? null);
      if (known === undefined) notes.notUnderstood(`telemetry_data.${name}`);
      return known === undefined || value === null ? [] : [[known.family, value * known.scale] as const];
    });
    this.#waiting.push({ at_ns, gpu, labels: labelsOf(line), values });
    if (this.#waiting.length > MAX_WAITING) this.#record(MAX_WAITING / 2);
  }

  finish(): TargetStore {
    this.#record(this.#waiting.length);
    return this.#store;
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
    const metrics: Record<string, { labels: Record<string, string>; value: number }[]> = {};
    for (const { labels, values } of scrape) {
      for (const [family, value] of values) (metrics[family] ??= []).push({ labels, value });
    }
    const times = { at_ns, sent_ns: at_ns, duration_ns: 0, interval_ns: AIPERF_INTERVAL_NS, edge: false };
    const page = new TextEncoder().encode(this.#pages.page(metrics));
    this.#store.recordPage(times, this.#parser.parse(page, 'text/plain'), false);
  }
}

/** A name may carry the vendor's, `nvidia_gpu_utilization`, or `gpu_`. */
function fieldOf(name: string): GpuField | undefined {
  const short = name.replace(/^nvidia_/, '').replace(/^gpu_/, '');
  return Object.hasOwn(FIELDS, short) ? FIELDS[short] : undefined;
}

function labelsOf(line: Fields): Record<string, string> {
  const known = {
    gpu: line.number('gpu_index'),
    UUID: line.text('gpu_uuid'),
    modelName: line.text('gpu_model_name'),
    Hostname: line.text('hostname'),
  };
  return Object.fromEntries(
    Object.entries(known).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
  );
}
