import type { EngineEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { KV_BYTES_PER_TOKEN, MODEL_BYTES } from '../engine/parameters.ts';

/** What a GPU did since its last look, and what it holds. */
export interface GpuReading {
  /** Share of the time that a step was running, 0 to 1. */
  readonly busyRatio: number;
  /** Mean since the last look, in watts: the energy's increase over the time. */
  readonly power_W: number;
  /** Since the start. */
  readonly energy_J: number;
  readonly usedMemory_bytes: number;
}

const NANOSECONDS_PER_SECOND = 1e9;
/** Looks that follow each other faster get the same response, as from a driver that samples. */
const LOOK_SECONDS = 0.5;

/** An accelerator of 80 GiB. */
export const GPU_MEMORY_BYTES = 80 * 2 ** 30;
export const GPU_POWER_LIMIT_WATTS = 700;
const IDLE_WATTS = 75;
const BUSY_WATTS = 620;
/** What an engine takes besides weights and cache: activations, graphs, libraries. */
const OVERHEAD_BYTES = 2.5e9;

/** The GPU under one engine: busy while a step runs; its memory is taken at the start and kept, as engines do. */
export class GpuLoad {
  readonly #usedMemory_bytes: number;
  #busy_ns = 0;
  #lookedAt_ns = 0;
  #busyAtLook_ns = 0;
  #reading: GpuReading;

  constructor({ numKvBlocks, blockSize }: EngineParameters) {
    const kvCache_bytes = numKvBlocks * blockSize * KV_BYTES_PER_TOKEN;
    this.#usedMemory_bytes = Math.min(GPU_MEMORY_BYTES, MODEL_BYTES + OVERHEAD_BYTES + kvCache_bytes);
    const usedMemory_bytes = this.#usedMemory_bytes;
    this.#reading = { busyRatio: 0, power_W: IDLE_WATTS, energy_J: 0, usedMemory_bytes };
  }

  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.kind === 'step') this.#busy_ns += event.time_ns - event.start_ns;
    }
  }

  /** @param now_ns on the engine's clock, whose origin is when the GPU came up */
  read(now_ns: number): GpuReading {
    const passed_ns = now_ns - this.#lookedAt_ns;
    if (passed_ns < LOOK_SECONDS * NANOSECONDS_PER_SECOND) return this.#reading;
    // A step counts when it ends: it may have begun before the last look.
    const busy_ns = Math.min(passed_ns, this.#busy_ns - this.#busyAtLook_ns);
    const busyRatio = busy_ns / passed_ns;
    const power_W = IDLE_WATTS + (BUSY_WATTS - IDLE_WATTS) * busyRatio;
    const energy_J = this.#reading.energy_J + (power_W * passed_ns) / NANOSECONDS_PER_SECOND;
    this.#lookedAt_ns = now_ns;
    this.#busyAtLook_ns += busy_ns;
    this.#reading = { busyRatio, power_W, energy_J, usedMemory_bytes: this.#usedMemory_bytes };
    return this.#reading;
  }
}
