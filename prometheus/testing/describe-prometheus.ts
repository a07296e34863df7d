import { describe } from '@jest/globals';
import { skipWithout } from '../../core/testing/skip-without.ts';
import type { AlertmanagerPrograms, PrometheusPrograms } from '../programs.mjs';
import { ensureAlertmanager, ensurePrometheus, findPrometheus3 } from '../programs.mjs';

const PROMETHEUS_MISSING = 'prometheus with promtool is missing: node prometheus/programs.mjs unpacks it into .cache';
const ALERTMANAGER_MISSING = 'alertmanager with amtool is missing: node prometheus/programs.mjs unpacks it into .cache';
const PROMETHEUS_3_MISSING =
  'Prometheus 3 is missing: node scripts/install.mjs --for-tests unpacks it, or set PROMETHEUS_3_BIN to its folder';

/** A `describe` whose tests need a real Prometheus. Without one they are skipped, and fail with `CI=true`. */
export async function describeWithPrometheus(
  name: string,
  body: (programs: PrometheusPrograms) => void,
): Promise<void> {
  const programs = await ensurePrometheus({ install: false });
  if (programs === null) return skipWithout(name, PROMETHEUS_MISSING);
  describe(`${name} (Prometheus ${programs.version})`, () => body(programs));
}

/** 2 is the one that `describeWithPrometheus` finds. */
export type PrometheusMajor = '2' | '3';

/** A `describe` whose tests need this major version of Prometheus. */
export async function describeWithPrometheusMajor(
  major: PrometheusMajor,
  name: string,
  body: (programs: PrometheusPrograms) => void,
): Promise<void> {
  const programs = major === '2' ? await ensurePrometheus({ install: false }) : await findPrometheus3();
  if (programs === null) return skipWithout(name, major === '2' ? PROMETHEUS_MISSING : PROMETHEUS_3_MISSING);
  describe(`${name} (Prometheus ${programs.version})`, () => body(programs));
}

/** The same tests with each major version. */
export async function describeWithEachPrometheus(
  name: string,
  body: (programs: PrometheusPrograms) => void,
): Promise<void> {
  await describeWithPrometheusMajor('2', name, body);
  await describeWithPrometheusMajor('3', name, body);
}

/** As `describeWithPrometheus`, for tests that need a real Alertmanager as well. */
export async function describeWithAlertmanager(
  name: string,
  body: (programs: PrometheusPrograms & AlertmanagerPrograms) => void,
): Promise<void> {
  const prometheus = await ensurePrometheus({ install: false });
  if (prometheus === null) return skipWithout(name, PROMETHEUS_MISSING);
  const alertmanager = await ensureAlertmanager({ install: false });
  if (alertmanager === null) return skipWithout(name, ALERTMANAGER_MISSING);
  describe(`${name} (Prometheus ${prometheus.version}, Alertmanager ${alertmanager.version})`, () =>
    body({ ...alertmanager, ...prometheus }));
}
