import { benchmark } from './benchmark.ts';
import { classicJson } from './classic-dashboard.ts';

/** Each committed file with what generates its text. */
export const DASHBOARDS: readonly (readonly [file: string, json: () => string])[] = [
  ['llmbench-benchmark.json', () => classicJson(benchmark())],
];
