import type { Family, Sample } from '../../family.ts';

/** A family of one run whose value and series a test decides. */
export class Gauge implements Family {
  readonly name = 'llmbench_test';
  readonly help = 'For tests.';
  readonly type = 'gauge';
  value = 0;
  twice = false;

  samples(): readonly Sample[] {
    const parts = this.twice ? ['first', 'second'] : ['first'];
    return parts.map((part) => ({ labels: { run_id: 'r', part }, value: this.value }));
  }
}
