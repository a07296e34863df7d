import { accepted, instead, none, type AnsweredOptions } from './answer.ts';

const SEARCH = instead(
  'use `--find concurrency|request-rate --slo "ttft:p95<300ms"`: the largest load that meets the objectives',
);
const MATRIX = instead('use lists of loads, `--concurrency 1,2,4`, or a matrix in the file of `--config`');

/** Several runs with one command of AIPerf: repeats, sweeps, searches. */
export const AIPERF_SEARCH: AnsweredOptions = [
  ['--num-profile-runs', accepted('num-profile-runs')],
  ['--profile-run-cooldown-seconds', accepted('profile-run-cooldown-seconds')],
  ['--parameter-sweep-cooldown-seconds', accepted('profile-run-cooldown-seconds', 'also between the loads of a sweep')],
  [
    '--confidence-level --convergence-metric --convergence-stat --convergence-threshold --convergence-mode',
    none('the spread over the runs is reported; `llmbench compare` and `check` say how many runs decide'),
  ],
  [
    '--profile-run-disable-warmup-after-first --no-profile-run-disable-warmup-after-first',
    none('every run has its warm-up'),
  ],
  [
    '--set-consistent-seed --no-set-consistent-seed --vary-seed-per-trial --no-vary-seed-per-trial --parameter-sweep-same-seed --no-parameter-sweep-same-seed',
    instead('use `--same-prompts`: by default lengths and arrivals are the same in all runs and texts are new'),
  ],
  ['--parameter-sweep-mode', none('all loads are measured once, then again: repeats are the outer loop')],
  ['--sweep-type --variant --sweep-variant --isl-osl-pairs', MATRIX],
  ['--request-rate-series', instead('start one run for each rate, or `--request-rate 5,10,20` as a sweep')],
  ['--no-sweep-table', instead('use `--json`')],
  [
    '--concurrency-min --concurrency-max --concurrency-steps',
    instead('use `--concurrency 1,2,4`, or `--find concurrency --find-max N`'),
  ],
  ['--isl-min --isl-max --isl-steps --osl-min --osl-max --osl-steps', MATRIX],
  [
    '--ttft-sla-ms --itl-sla-ms --tpot-sla-ms --e2e-sla-ms --error-rate-sla',
    instead('use `--find` with `--slo "ttft:p95<300ms"`, `--slo "itl:p95<50ms"` or `--slo "error_ratio<=1%"`'),
  ],
  [
    '--search-space --search-metric --search-stat --search-direction --search-max-iterations --search-initial-points --search-random-seed --search-planner --optuna-sampler --optuna-acquisition --optuna-terminator --search-percentile-pooling --bo-constraint-mode --search-sla --search-sla-tier --search-recipe --slo-attainment-fraction --search-style --degradation-threshold --degradation-metric-tag --degradation-stat',
    SEARCH,
  ],
];
