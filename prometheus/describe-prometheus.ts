import { describe, test } from '@jest/globals';
import type { AlertmanagerPrograms, PrometheusPrograms } from './programs.mjs';
import { ensureAlertmanager, ensurePrometheus } from './programs.mjs';

/**
 * A `describe` whose tests need a real Prometheus. Without one they are skipped and the reason is printed; with
 * `CI=true` they fail, because a build that tests less than it claims is worse than a failed one.
 */
export async function describeWithPrometheus(
  name: string,
  body: (programs: PrometheusPrograms) => void,
): Promise<void> {
  const programs = await ensurePrometheus({ install: false });
  if (programs === null) return skip(name, 'prometheus with promtool is missing');
  describe(`${name} (Prometheus ${programs.version})`, () => body(programs));
}

/** The same for tests that need a real Alertmanager as well. */
export async function describeWithAlertmanager(
  name: string,
  body: (programs: PrometheusPrograms & AlertmanagerPrograms) => void,
): Promise<void> {
  const prometheus = await ensurePrometheus({ install: false });
  if (prometheus === null) return skip(name, 'prometheus with promtool is missing');
  const alertmanager = await ensureAlertmanager({ install: false });
  if (alertmanager === null) return skip(name, 'alertmanager with amtool is missing');
  describe(`${name} (Prometheus ${prometheus.version}, Alertmanager ${alertmanager.version})`, () =>
    body({ ...alertmanager, ...prometheus }));
}

function skip(name: string, missing: string): void {
  const reason = `${missing}: node prometheus/programs.mjs unpacks it into .cache`;
  if (process.env['CI'] === 'true') {
    test(name, () => {
      throw new Error(reason);
    });
    return;
  }
  console.warn(`skipped: ${name}: ${reason}`);
  // jest requires a test in each file; a skipped one is counted.
  test.skip(`${name}: ${reason}`, () => undefined);
}
