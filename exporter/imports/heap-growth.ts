import { setFlagsFromString } from 'node:v8';

/** How much the heap may grow over what was alive when it was last collected, before it is collected again. */
const PERCENT = 20;

/**
 * Keeps garbage from growing to several times of what is alive, which V8 allows it on a machine with much memory: an import
 * makes and drops objects as long as it lasts, and holds few. Collecting more often takes about a quarter more CPU. It holds
 * for all threads, until `stop`.
 */
export function boundHeapGrowth(): { stop(): void } {
  setHeapGrowth(PERCENT);
  return {
    stop() {
      setHeapGrowth(0);
    },
  };
}

/** 0 leaves it to V8. */
function setHeapGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
