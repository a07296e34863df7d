import { spawn, execFile } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pause } from '../clock/pause.ts';
import { createScrapeParser, writePage } from '../../core/exposition/index.ts';
import { isInstalled } from '../files/is-installed.ts';
import { TargetStore } from './series/target-store.ts';

/** What a program of the driver reported of a GPU of this machine. */
interface GpuSample {
  readonly gpu: string;
  readonly model: string | null;
  /** Null: the GPU does not report it. */
  readonly watts: number | null;
}

/** A program that samples the GPUs of this machine. */
interface GpuProgram {
  readonly name: string;
  /** The family under which its samples are stored. */
  readonly family: string;
  /**
   * Samples until `until` is aborted, at least once each interval; resolves when the program has ended, with the reason in
   * one line if it ended by itself. Rejects when it is not installed.
   */
  readonly sample: (
    intervalSeconds: number,
    take: (samples: readonly GpuSample[]) => void,
    until: AbortSignal,
  ) => Promise<string | null>;
}

/** A power as the programs write it; null: `[N/A]` and the like. */
function wattsOf(text: string | undefined): number | null {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null;
}

const FIELDS = '--query-gpu=count,uuid,name,power.draw';
const MAX_GPUS = 1024;

/** One process for the whole run, which prints a row for each GPU at each interval. */
export const NVIDIA_SMI: GpuProgram = {
  name: 'nvidia-smi',
  family: 'nvidia_smi_power_draw_watts',
  async sample(intervalSeconds, take, until) {
    const loop = `--loop-ms=${Math.round(intervalSeconds * 1000)}`;
    const child = spawn('nvidia-smi', [FIELDS, '--format=csv,noheader,nounits', loop], {
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
      env: process.env,
      signal: until,
    });
    const ended = once(child, 'close').then(
      () => (until.aborted ? null : `nvidia-smi ended with exit code ${child.exitCode ?? 'unknown'}`),
      (error: unknown) => {
        if (until.aborted) return null;
        throw error;
      },
    );
    let rows: GpuSample[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => {
      const row = rowOf(line);
      if (row === null || rows.length >= MAX_GPUS) return;
      rows.push(row.sample);
      if (rows.length < row.count) return;
      take(rows);
      rows = [];
    });
    // What a script in its place has started may hold the pipe open.
    return ended.finally(() => child.stdout.destroy());
  },
};

/** A row `count, uuid, name, watts`; null for messages. */
function rowOf(line: string): { readonly count: number; readonly sample: GpuSample } | null {
  const [count, gpu, model, watts] = line.split(',').map((cell) => cell.trim());
  if (count === undefined || !/^\d+$/.test(count) || !gpu) return null;
  return {
    count: Number(count),
    sample: { gpu, model: model === undefined || model === '' ? null : model, watts: wattsOf(watts) },
  };
}

/** What `rocm-smi` prints of a card or of the system: texts, whose names differ in case between its versions. */
export type RocmTexts = (name: RegExp) => string | undefined;

export interface RocmCards {
  /** By the names of the cards, such as `card0`. */
  readonly cards: readonly (readonly [name: string, texts: RocmTexts])[];
  readonly system: RocmTexts;
}

/** The output of `rocm-smi --json`; null: it is not a JSON object. */
export function rocmCards(json: string): RocmCards | null {
  const parsed = parsedJson(json);
  if (!isObject(parsed)) return null;
  const cards = Object.entries(parsed).flatMap(([name, facts]) =>
    /^card\d+$/.test(name) && isObject(facts) ? [[name, textsOf(facts)] as const] : [],
  );
  return { cards, system: textsOf(parsed['system']) };
}

function parsedJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function textsOf(facts: unknown): RocmTexts {
  const entries = isObject(facts) ? Object.entries(facts) : [];
  return (name) => {
    const found = entries.find(([key, text]) => name.test(key) && typeof text === 'string');
    return found?.[1] as string | undefined;
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const QUERY = ['--showpower', '--showuniqueid', '--showproductname', '--json'];
const LIMITS = { timeout: 10_000, maxBuffer: 2 ** 20, windowsHide: true } as const;
const MAX_FAILURES = 3;
const run = promisify(execFile);

/** It has no loop: it is started anew for each sample. */
export const ROCM_SMI: GpuProgram = {
  name: 'rocm-smi',
  family: 'rocm_smi_power_watts',
  async sample(intervalSeconds, take, until) {
    for (let failures = 0; ;) {
      const due = pause(intervalSeconds * 1000, until);
      try {
        const { stdout } = await run('rocm-smi', QUERY, { ...LIMITS, env: process.env, signal: until });
        take(samplesOf(stdout));
        failures = 0;
      } catch (error) {
        if (until.aborted) return null;
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
        failures += 1;
        if (failures >= MAX_FAILURES) return `rocm-smi failed ${MAX_FAILURES} times in a row`;
      }
      await due;
      if (until.aborted) return null;
    }
  },
};

/** The power is `Current Socket Graphics Package Power (W)`, on older GPUs the average. Throws when `json` is not JSON. */
export function samplesOf(json: string): readonly GpuSample[] {
  const found = rocmCards(json);
  if (found === null) throw new Error('the output of rocm-smi is not a JSON object');
  return found.cards.map(([card, text]) => {
    const id = text(/^Unique ID$/i);
    const gpu = id === undefined || /^N\/A$/i.test(id) ? card : id;
    return { gpu, model: text(/^Card series$/i) ?? null, watts: wattsOf(text(/Package Power \(W\)$/i)) };
  });
}

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
    for (const program of programs.filter(({ name }) => isInstalled(name))) {
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
