import { describe, test } from '@jest/globals';
import type { PrometheusPrograms } from '../scripts/prometheus.mjs';
import { ensurePrometheus } from '../scripts/prometheus.mjs';

/**
 * A `describe` whose tests need a real Prometheus. Without one they are skipped and the reason is printed; with
 * `CI=true` they fail, because a build that tests less than it says is worse than a red one.
 */
export async function describeWithPrometheus(
  name: string,
  body: (programs: PrometheusPrograms) => void,
): Promise<void> {
  const programs = await ensurePrometheus({ install: false });
  if (programs !== null) {
    describe(`${name} (Prometheus ${programs.version})`, () => body(programs));
    return;
  }
  const reason = 'there is no prometheus with promtool: node scripts/prometheus.mjs unpacks them into .cache';
  if (process.env['CI'] === 'true') {
    test(name, () => {
      throw new Error(reason);
    });
    return;
  }
  console.warn(`skipped: ${name}: ${reason}`);
  // jest wants a test in each file; a skipped one is counted.
  test.skip(`${name}: ${reason}`, () => undefined);
}
