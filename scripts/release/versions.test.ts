import { expect, test } from '@jest/globals';
import { newestSection, withRelease } from './versions.ts';

const EARLIER = '\n## 0.1.0 (2026-11-30)\n\n- First.\n';
const CHANGELOG = `# Changelog\n\n## 0.2.0 (unreleased)\n\nRun\n\n- Faster.\n${EARLIER}`;

test('the newest section ends where the one before it begins', () => {
  expect(newestSection(CHANGELOG)).toEqual({ version: '0.2.0', date: null, text: 'Run\n\n- Faster.' });
  expect(newestSection(`# Changelog\n${EARLIER}`)).toEqual({ version: '0.1.0', date: '2026-11-30', text: '- First.' });
});

test('a release dates the unreleased section and changes no other', () => {
  const released = withRelease(CHANGELOG, '0.2.0', '2026-12-24');
  expect(released).toBe(CHANGELOG.replace('0.2.0 (unreleased)', '0.2.0 (2026-12-24)'));
  expect(withRelease(CHANGELOG, '1.0.0', '2026-12-24')).toContain('## 1.0.0 (2026-12-24)\n\nRun');
});

test('without an unreleased section there is nothing to release', () => {
  expect(() => withRelease(`# Changelog\n${EARLIER}`, '0.2.0', '2026-12-24')).toThrow('add "## 0.2.0 (unreleased)"');
  expect(() => newestSection('# Changelog\n')).toThrow('no heading');
});
