import type { MeasuredRecord, PhaseName } from '../../../core/run/record.ts';
import type { BenchmarkPlan } from '../load-generator.ts';
import { syntheticDataset } from '../datasets/synthetic-dataset.ts';
import { chat } from '../endpoints/openai.ts';
import { DEFAULT_ERROR_LIMIT } from '../phases/early-end.ts';
import type { ClosedLoad, OpenLoad, PhaseLoad } from '../schedule/load-plan.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import { runBenchmark } from '../run-benchmark.ts';
import type { BenchmarkOutcome } from '../run-benchmark.ts';
import { RunControls } from '../phases/run-controls.ts';
import { WHOLE } from '../workers/share.ts';
import { UndiciTransport } from '../transports/undici-transport.ts';
import { scriptedServer } from './scripted-server.ts';
import type { Script, ScriptedServer } from './scripted-server.ts';

/** Notes what an observer is reported. */
export class Recorder implements RunEvents {
  readonly calls: string[] = [];
  readonly records: MeasuredRecord[] = [];
  inFlight = 0;
  mostInFlight = 0;
  firstContents = 0;
  gaps = 0;

  phaseStarted(phase: PhaseName): void {
    this.calls.push(`start ${phase}`);
  }
  phaseEnded(phase: PhaseName): void {
    this.calls.push(`end ${phase}`);
  }
  requestSent(phase: PhaseName): void {
    this.calls.push(`sent ${phase}`);
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
  }
  firstContent(): void {
    this.firstContents++;
  }
  chunkGap(): void {
    this.gaps++;
  }
  requestEnded(record: MeasuredRecord): void {
    this.calls.push(`ended ${record.phase}`);
    this.records.push(record);
    this.inFlight--;
  }

  of(phase: PhaseName): MeasuredRecord[] {
    return this.records.filter((record) => record.phase === phase).sort((a, b) => a.index - b.index);
  }
}

/** What a test changes of the plan: 20 requests, 4 at a time, no warm-up. */
export interface PlanChanges extends Partial<Omit<BenchmarkPlan, 'measure' | 'warmup'>>, PhaseChanges {
  readonly warmup?: PhaseChanges;
}

interface PhaseChanges extends Partial<Omit<PhaseLoad, 'load'>>, Partial<Omit<ClosedLoad, 'concurrency' | 'arrivals'>> {
  /** Absent: 4. */
  readonly concurrency?: number | null;
  /** Absent: a closed load. */
  readonly arrivals?: OpenLoad['arrivals'];
}

export function phaseLoad(changes: PhaseChanges): PhaseLoad {
  const { concurrency = 4, arrivals } = changes;
  const limits = {
    concurrencyRampSeconds: changes.concurrencyRampSeconds ?? 0,
    prefillConcurrency: changes.prefillConcurrency ?? null,
    prefillConcurrencyRampSeconds: changes.prefillConcurrencyRampSeconds ?? 0,
  };
  return {
    load:
      arrivals === undefined
        ? { ...limits, concurrency: concurrency ?? 4, arrivals: null }
        : { ...limits, concurrency, arrivals },
    requestCount: changes.requestCount === undefined ? 20 : changes.requestCount,
    durationSeconds: changes.durationSeconds ?? null,
    gracePeriodSeconds: changes.gracePeriodSeconds ?? 30,
    coolDown: changes.coolDown ?? false,
  };
}

export function benchmarkPlan(changes: PlanChanges): BenchmarkPlan {
  return {
    form: changes.form ?? {
      endpoint: chat,
      path: chat.path,
      headers: { 'content-type': 'application/json' },
      dataset: syntheticDataset({ inputTokens: 5, outputTokens: 8, seed: 1 }),
      options: { model: 'm', sampling: {}, includeUsage: true },
    },
    cancellation: changes.cancellation ?? null,
    maxOutputTokensTotal: changes.maxOutputTokensTotal ?? null,
    requestTimeoutSeconds: changes.requestTimeoutSeconds ?? 60,
    firstTokenTimeoutSeconds: 0,
    idleTimeoutSeconds: 0,
    errorLimit: changes.errorLimit === undefined ? DEFAULT_ERROR_LIMIT : changes.errorLimit,
    failedRequestThreshold: changes.failedRequestThreshold ?? null,
    secrets: [],
    shard: changes.shard ?? WHOLE,
    measureStart_ns: changes.measureStart_ns ?? null,
    warmup: changes.warmup === undefined ? null : phaseLoad(changes.warmup),
    measure: phaseLoad(changes),
  };
}

export interface BenchmarkRun {
  readonly outcome: BenchmarkOutcome;
  readonly recorder: Recorder;
  readonly server: ScriptedServer;
}

/** A benchmark against a server that responds by the script, over real sockets. */
export async function benchmarkRun(
  changes: PlanChanges,
  script: Script,
  controls = new RunControls(),
): Promise<BenchmarkRun> {
  const server = await scriptedServer(script);
  const transport = new UndiciTransport({ origin: server.origin });
  const recorder = new Recorder();
  try {
    const outcome = await runBenchmark(benchmarkPlan(changes), { transport, observers: [recorder], controls });
    return { outcome, recorder, server };
  } finally {
    await transport.close();
    await server.close();
  }
}
