import { readFileSync, readdirSync } from 'node:fs';

import type { VllmFamilies } from './families.ts';

const PAGE_BYTES = 4096;

/** Reads a file of Linux' /proc; null where there is no such thing, as on other systems. */
function readProc<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

/** The figures of the serving process. Without /proc the page has the families and no series, as the Python client. */
export class ProcessMetrics {
  readonly #families: VllmFamilies;
  readonly #start_s = Date.now() / 1000 - process.uptime();

  constructor(families: VllmFamilies) {
    this.#families = families;
    // There is no Python here: its collector has never run.
    for (const event of ['objects_collected', 'objects_uncollectable', 'collections']) {
      const family = families.counter(`python_gc_${event}_total`);
      for (const generation of ['0', '1', '2']) family.series({ generation });
    }
    const version = { implementation: 'CPython', major: '3', minor: '11', patchlevel: '7', version: '3.11.7' };
    families.gauge('python_info').series(version).value = 1;
  }

  update(): void {
    const set = (name: string, value: number | null | undefined): void => {
      if (value !== null && value !== undefined) this.#families.gauge(name).series().value = value;
    };
    const usage = process.cpuUsage();
    this.#families.counter('process_cpu_seconds_total').series().value = (usage.user + usage.system) / 1e6;
    set('process_start_time_seconds', this.#start_s);
    set('process_resident_memory_bytes', process.memoryUsage.rss());
    set(
      'process_open_fds',
      readProc(() => readdirSync('/proc/self/fd').length),
    );
    const statm = readProc(() => readFileSync('/proc/self/statm', 'latin1'));
    if (statm !== null) set('process_virtual_memory_bytes', Number(statm.split(' ')[0]) * PAGE_BYTES);
    const limits = readProc(() => readFileSync('/proc/self/limits', 'latin1'));
    const openFiles = limits === null ? null : /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    set('process_max_fds', openFiles === undefined || openFiles === null ? null : Number(openFiles));
  }
}
