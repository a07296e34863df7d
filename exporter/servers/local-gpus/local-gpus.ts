import { setTimeout as sleep } from 'node:timers/promises';
import { createScrapeParser, writePage } from '../../../core/exposition/index.ts';
import { TargetStore } from '../series/target-store.ts';
import type { GpuProgram, GpuSample } from './gpu-sample.ts';
import { NVIDIA_SMI } from './nvidia-smi.ts';
import { ROCM_SMI } from './rocm-smi.ts';

const PROGRAMS: readonly GpuProgram[] = [NVIDIA_SMI, ROCM_SMI];
/** Without persistence mode the driver is loaded for the first sample. */
const FIRST_SAMPLE_SECONDS = 5;

export interface LocalGpusOptions {
  readonly intervalSeconds: number;
  /** The collection's clock. */
  readonly now_ns: () => number;
  readonly say: (line: string) => void;
}

/** The power of this machine's GPUs where no exporter reports it: sampled by a program of their driver. */
export class LocalGpus {
  readonly program: string;
  readonly store = new TargetStore();
  readonly #family: string;
  readonly #options: LocalGpusOptions;
  readonly #parser = createScrapeParser();
  readonly #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  private constructor({ name, family }: GpuProgram, options: LocalGpusOptions) {
    this.program = name;
    this.#family = family;
    this.#options = options;
  }

  /** Resolves after the first sample; null: this machine has no such program, or it reports no GPU. */
  static async start(options: LocalGpusOptions, programs = PROGRAMS): Promise<LocalGpus | null> {
    for (const program of programs) {
      const gpus = new LocalGpus(program, options);
      if (await gpus.#begin(program)) return gpus;
    }
    return null;
  }

  /** Resolves when the program has ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #begin(program: GpuProgram): Promise<boolean> {
    const { intervalSeconds, say } = this.#options;
    const sampled = Promise.withResolvers<boolean>();
    const take = (samples: readonly GpuSample[]): void => {
      this.#record(samples);
      sampled.resolve(samples.length > 0);
    };
    this.#ended = program.sample(intervalSeconds, take, this.#stop.signal).then(
      (why) => {
        if (why !== null && this.store.scrapes > 0) say(`the power of the GPUs is no longer sampled: ${why}`);
        sampled.resolve(false);
      },
      () => sampled.resolve(false),
    );
    const late = sleep(FIRST_SAMPLE_SECONDS * 1000, false, { signal: this.#stop.signal, ref: false }).catch(
      () => false,
    );
    const works = await Promise.race([sampled.promise, late]);
    if (!works) await this.stop();
    return works;
  }

  #record(samples: readonly GpuSample[]): void {
    const { intervalSeconds, now_ns } = this.#options;
    const at_ns = now_ns();
    const times = { sent_ns: at_ns, at_ns, duration_ns: 0, interval_ns: intervalSeconds * 1e9, edge: false };
    const page = writePage(
      [
        {
          name: this.#family,
          help: `Power of the GPU, by ${this.program}.`,
          type: 'gauge',
          samples: samples.flatMap(({ gpu, model, watts }) =>
            watts === null ? [] : [{ labels: { uuid: gpu, ...(model === null ? {} : { name: model }) }, value: watts }],
          ),
        },
      ],
      'text',
    );
    this.store.recordPage(times, this.#parser.parse(new TextEncoder().encode(page), 'text/plain'), false);
  }
}
