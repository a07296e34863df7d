import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** Where a worker finds what it calls. */
interface Work {
  readonly module: string;
  readonly name: string;
}

/**
 * Calls a function once for each list of arguments, on all cores, and returns the results in the order of the calls. The function is
 * exported by its name from the module, whose URL is `import.meta.url` there; arguments and results are copied. Calls that take
 * longest come first.
 */
export async function inParallel<A extends readonly unknown[], T>(
  module: string,
  { name }: (...args: A) => T | Promise<T>,
  calls: readonly Readonly<A>[],
): Promise<readonly T[]> {
  const results = new Array<T>(calls.length);
  const workers = Array.from({ length: Math.min(availableParallelism(), calls.length) }, () => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { module, name } satisfies Work });
    worker.unref();
    return worker;
  });
  let next = 0;
  const work = (worker: Worker): Promise<void> =>
    new Promise((resolve, reject) => {
      let call = -1;
      const assign = (): void => {
        call = next++;
        if (call < calls.length) worker.postMessage(calls[call]);
        else resolve();
      };
      worker.ref();
      worker.on('error', reject);
      worker.on('message', (result: T) => {
        results[call] = result;
        assign();
      });
      assign();
    });
  try {
    await Promise.all(workers.map(work));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  return results;
}

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  const { module, name } = workerData as Work;
  // Not awaited here: the module may import this one.
  const called = import(module).then((loaded: Readonly<Record<string, (...args: readonly unknown[]) => unknown>>) => {
    const found = loaded[name];
    if (found === undefined) throw new TypeError(`${module} exports no ${name}`);
    return found;
  });
  port.on('message', (args: readonly unknown[]) => {
    void called.then(async (found) => port.postMessage(await found(...args)));
  });
}
