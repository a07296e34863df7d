/** The package as a library for Node, `llmbench-observability`. What is exported here is stable; see docs/guides/library.md. */
export * from '../../core/index.ts';
export { runBenchmark, type BenchmarkRun } from './run-benchmark.ts';
export type { BenchmarkOptions, BenchmarkProgress } from './run-benchmark.ts';
export { BenchmarkError } from './run-benchmark.ts';
export { compareRuns, type ComparisonOptions } from './stored-runs.ts';
export { listRuns, readRecords, readRun, type StoredRun } from './stored-runs.ts';
export type { RunListing } from '../store/run-store.ts';
export type { EffectRatio, Judgment, MeasureVerdict, VerdictName } from '../../core/api/verdict.ts';
