import { instead, none } from './answer.ts';

/** Answers that several tools have in common. */
export const TEXT_ONLY = none('llmbench sends text only');
export const ALL_STORED = none('every run is stored in `--runs-dir`, with one row per request');
export const ALL_PERCENTILES = none('every measure is reported with p1 to p99.9');
export const TRUSTS_NO_CODE = none('tokenizers are data files; no code of a repository is executed');
export const OWN_PROGRESS = none(
  'progress is drawn on a terminal, and printed as one line every few seconds elsewhere',
);
export const SERVER_COUNTS = none("tokens are the server's counts (`usage`)");
export const NO_PROFILER = none('profilers of the server are not started; start them on the server');
export const NO_LORA = none('a run has one model; a LoRA adapter is the `--model` of a run of its own');
export const API_KEY = instead(
  'use `--api-key-env VARIABLE` or `--api-key-file FILE`: a key on the command line is visible to others',
);
export const DOWNLOAD = instead('download the file and use `--input-file FILE`; its format is detected');
export const WAIT_FOR_SERVER = instead(
  'use `--wait-ready SECONDS`; by default one request checks the server, and the run ends with exit code 1 if it fails',
);
export const RANDOM_RANGE = instead(
  'use `--isl-stddev` and `--osl-stddev`: lengths are normal, not uniform, around the mean',
);
