import type { SweepEnd } from '../../../core/sweeps/saturation.ts';
import { significant } from '../../../core/text/quantities.ts';

const THROUGHPUTS = { output_token_throughput: 'output tokens', request_throughput: 'requests' } as const;

/** Why `--sweep auto` performs no further run. */
export function sweepEndLine(end: SweepEnd): string {
  switch (end.reason) {
    case 'saturated': {
      const [share, what] = [significant(Math.abs(end.gain) * 100), end.gain < 0 ? 'fewer' : 'more'];
      return `the sweep ends: twice the load gave ${share} % ${what} ${THROUGHPUTS[end.measure]} per second`;
    }
    case 'client saturated':
      return 'the sweep ends: the client is saturated; use --workers or several machines for higher loads';
    case 'no throughput':
      return 'the sweep ends: too few requests succeeded to measure a throughput';
  }
}
