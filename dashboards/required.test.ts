import { expect, test } from '@jest/globals';
import { formerNames } from '../catalog/former-names.ts';
import { catalogs } from '../catalog/load.ts';
import { knownMetrics, ruleFiles } from '../prometheus/known-metrics.ts';
import { selectors } from '../prometheus/promql.ts';
import { panelsOf, type ClassicDashboard, type ClassicPanel } from './classic-json.ts';
import { NOT_SHOWN } from './not-shown.ts';
import { DASHBOARDS } from './src/dashboards.ts';

const KNOWN = knownMetrics();

/** Families that a panel or a rule queries. */
function used(): ReadonlySet<string> {
  const panels = DASHBOARDS.flatMap(([, json]) => panelsOf(JSON.parse(json()) as ClassicDashboard));
  const shown = panels.flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr));
  const ruled = ruleFiles('rules').flatMap(([, rules]) => rules.map(({ expr }) => expr));
  const metrics = [...shown, ...ruled].flatMap(selectors).map(({ metric }) => metric);
  return new Set(metrics.map((metric) => KNOWN.get(metric)?.family ?? metric));
}

const USED = used();
const REQUIRED = catalogs().flatMap(({ system, families }) =>
  families.filter(({ required }) => required === true).map(({ name }) => ({ system, name })),
);

test('every required family is on a panel (dashboards/src/systems), in a rule, or listed with the reason why not', () => {
  const lost = REQUIRED.filter(({ name }) => !USED.has(name) && !NOT_SHOWN.some(({ families }) => families.test(name)));
  expect(lost.map(({ system, name }) => `${system} ${name}`)).toEqual([]);
});

test('nothing is listed that is shown, and every reason is about some family', () => {
  const listed = NOT_SHOWN.flatMap(({ families }) => REQUIRED.filter(({ name }) => families.test(name)));
  expect(listed.filter(({ name }) => USED.has(name)).map(({ name }) => name)).toEqual([]);
  const idle = NOT_SHOWN.filter(({ families }) => !REQUIRED.some(({ name }) => families.test(name)));
  expect(idle).toEqual([]);
});

test('a panel of a family that some version lacks reports it', () => {
  const deprecated = catalogs().flatMap(({ families }) => families.filter((family) => family.deprecated !== undefined));
  const names = new Set(deprecated.map(({ name }) => name));
  const panels = DASHBOARDS.flatMap(([, json]) => panelsOf(JSON.parse(json()) as ClassicDashboard));
  const of = ({ targets = [] }: ClassicPanel): string[] =>
    targets.flatMap(({ expr }) => selectors(expr)).map(({ metric }) => KNOWN.get(metric)?.family ?? metric);
  // A former name beside the current one is read in those versions that have it.
  const onlyIn = (families: readonly string[]): string[] => {
    const former = new Set(families.flatMap((family) => formerNames(family).map(({ name }) => name)));
    return families.filter((family) => names.has(family) && !former.has(family));
  };
  const affected = panels.filter((panel) => onlyIn(of(panel)).length > 0);
  expect(affected.length).toBeGreaterThan(0);
  const silent = affected.filter(({ description = '' }) => !description.includes('Not in every version'));
  expect(silent.map(({ title }) => title)).toEqual([]);
});
