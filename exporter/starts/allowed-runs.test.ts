import { expect, test } from '@jest/globals';
import { ConfigurationError } from '../errors/expected-error.ts';
import { parseAllowedRuns } from './starts.ts';

const parsed = (text: string) =>
  parseAllowedRuns(text, '/etc/bench/allowed.yml', (words) =>
    words.includes('--concurency') ? '--concurency is not an option' : null,
  );

test('scenarios with a configuration, arguments or both', () => {
  const { scenarios, folder, concurrent, queue } = parsed(`
scenarios:
  nightly: { config: nightly.yml }
  smoke: { config: /srv/smoke.yml, arguments: [--request-count, 20, --osl, 1.5], probe: true }
`);
  expect([...scenarios.values()]).toEqual([
    { name: 'nightly', words: ['--config', '/etc/bench/nightly.yml'], probe: false },
    { name: 'smoke', words: ['--config', '/srv/smoke.yml', '--request-count', '20', '--osl', '1.5'], probe: true },
  ]);
  expect({ folder, concurrent, queue }).toEqual({ folder: '/etc/bench', concurrent: 1, queue: 5 });
  expect(parsed('{scenarios: {a: {config: a}}, concurrent: 2, queue: 0}')).toMatchObject({ concurrent: 2, queue: 0 });
});

test.each([
  ['', '/etc/bench/allowed.yml: scenarios must name at least one scenario'],
  ['scenarios: {a: {}}', '/etc/bench/allowed.yml:1: scenarios.a requires config or arguments'],
  ['scenarios: {a: {url: x}}', 'scenarios.a.url is not a known key; the keys are config, arguments, probe'],
  ['scenarios: {a: {arguments: --url}}', 'scenarios.a.arguments must be a list of arguments'],
  ['scenarios: {a: {arguments: [[]]}}', 'scenarios.a.arguments must be a list of strings and numbers'],
  ['scenarios: {a: {arguments: [--runs-dir, x]}}', 'scenarios.a.arguments must not contain --runs-dir'],
  ['scenarios: {a: {arguments: [--run-id=x]}}', 'scenarios.a.arguments must not contain --run-id'],
  ['scenarios: {a: {arguments: [--concurency, 2]}}', 'scenarios.a cannot be run: --concurency is not an option'],
  ['scenarios: {a: {config: x, probe: often}}', 'scenarios.a.probe must be true or false'],
  ['{scenarios: {a: {config: x}}, queue: -1}', 'queue must be a whole number from 0 to 100'],
  ['{scenarios: {a: {config: x}}, concurrent: 0}', 'concurrent must be a whole number from 1 to 16'],
])('%j is refused', (text, message) => {
  expect(() => parsed(text)).toThrow(ConfigurationError);
  expect(() => parsed(text)).toThrow(message);
});
