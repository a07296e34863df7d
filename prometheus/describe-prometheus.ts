import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

/** Where `scripts/real-servers/prometheus-3.sh` puts its programs. */
const PROMETHEUS_3 = fileURLToPath(new URL('../.cache/prometheus-3/usr/bin', import.meta.url));

/** 2 is the one that `describeWithPrometheus` finds; 3 is in the folder `PROMETHEUS_3_BIN` or where the script puts it. */
export type PrometheusMajor = '2' | '3';

/** A `describe` whose tests need this major version of Prometheus. Without it a test fails that says how to get it. */
export async function describeWithPrometheusMajor(
  major: PrometheusMajor,
  name: string,
  body: (programs: PrometheusPrograms) => void,
): Promise<void> {
  const programs = major === '2' ? await ensurePrometheus({ install: false }) : await prometheus3();
  describe(`${name} (Prometheus ${programs?.version ?? major})`, () => {
    if (programs !== null) return body(programs);
    test(`Prometheus ${major} is there`, () => {
      throw new Error(`Prometheus ${major} is missing: node scripts/install.mjs --for-tests unpacks it`);
    });
  });
}

/** The same tests with each major version. */
export async function describeWithEachPrometheus(
  name: string,
  body: (programs: PrometheusPrograms) => void,
): Promise<void> {
  await describeWithPrometheusMajor('2', name, body);
  await describeWithPrometheusMajor('3', name, body);
}

async function prometheus3(): Promise<PrometheusPrograms | null> {
  const folder = process.env['PROMETHEUS_3_BIN'] ?? PROMETHEUS_3;
  const programs = { prometheus: join(folder, 'prometheus'), promtool: join(folder, 'promtool'), version: '3' };
  return access(programs.prometheus, constants.X_OK).then(
    () => programs,
    () => null,
  );
}

/** As `describeWithPrometheus`, for tests that need a real Alertmanager as well. */
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
