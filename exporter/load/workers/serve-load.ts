import type { MessagePort } from 'node:worker_threads';
import type { PreparedPhase, RunningCoolDown, BenchmarkPlan } from '../load-generator.ts';
import { LocalLoad } from '../local-load.ts';
import { RunControls } from '../phases/run-controls.ts';
import type { Transport } from '../transports/transport.ts';
import { EventLog, type WorkerCommand, type WorkerReport, type WorkerRun, type WorkerStart } from './messages.ts';

/** Maximum delay of events before they are sent to the leading thread. */
const REPORT_EVERY_MS = 100;

/** What is to be sent, and the transport to the servers. */
export interface LoadSource {
  readonly plan: BenchmarkPlan;
  readonly transport: Transport;
}

/** Generates a worker's share of a load in this thread, as commanded over the port. Ends with the thread. */
export function serveLoad(
  port: MessagePort,
  { worker, memory }: Pick<WorkerStart, 'worker' | 'memory'>,
  source: (run: WorkerRun) => Promise<LoadSource>,
): void {
  const controls = new RunControls();
  const post = (report: WorkerReport): void => port.postMessage(report);
  const log = new EventLog(() => sendEvents());
  let plan: BenchmarkPlan | null = null;
  let load: LocalLoad | null = null;
  let prepared: PreparedPhase | null = null;
  let coolDown: RunningCoolDown | null = null;

  function sendEvents(): void {
    const batch = log.take();
    if (batch !== null) port.postMessage({ report: 'events', batch } satisfies WorkerReport, [batch.events.buffer]);
  }

  async function execute(order: WorkerCommand): Promise<void> {
    switch (order.order) {
      case 'begin': {
        const { epoch_ns } = order.run;
        const { transport, ...given } = await source(order.run);
        const endedEarly = (graceSeconds: number | null): void => post({ report: 'ended_early', graceSeconds });
        plan = given.plan;
        load = new LocalLoad({ plan, transport, observers: [log], controls, epoch_ns, worker, memory, endedEarly });
        setInterval(sendEvents, REPORT_EVERY_MS);
        return post({ report: 'begun' });
      }
      case 'prepare': {
        const { phase, firstIndex } = order;
        const phaseLoad = plan?.[phase] ?? null;
        if (load === null || phaseLoad === null) throw new Error(`no ${phase} phase to prepare`);
        prepared = await load.prepare({ phase, load: phaseLoad, firstIndex });
        return post({ report: 'prepared' });
      }
      case 'run': {
        if (prepared === null) throw new Error('no phase is prepared');
        const run = await prepared.run(order.start_ns);
        coolDown = run.coolDown;
        sendEvents();
        return post({ report: 'ended', result: run.result });
      }
      case 'cool_down': {
        const result = (await coolDown?.ended) ?? null;
        sendEvents();
        return post({ report: 'cooled_down', result });
      }
      case 'drain':
        return controls.drain();
      case 'abort':
        return controls.abort();
    }
  }

  port.on('message', (order: WorkerCommand) => {
    // An error ends the thread, which reports it to the leading one.
    execute(order).catch((error: unknown) => {
      setImmediate(() => {
        throw error;
      });
    });
  });
}
