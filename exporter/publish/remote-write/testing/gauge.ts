import type { SampleInput } from '../../../../core/exposition/index.ts';
import type { LiveFamily } from '../../family.ts';

/** A family of one run with value and series set by a test. */
export class Gauge implements LiveFamily {
  readonly name = 'llmbench_test';
  readonly help = 'For tests.';
  readonly type = 'gauge';
  value = 0;
  twice = false;

  samples(): readonly SampleInput[] {
    const parts = this.twice ? ['first', 'second'] : ['first'];
    return parts.map((part) => ({ labels: { run_id: 'r', part }, value: this.value }));
  }
}
