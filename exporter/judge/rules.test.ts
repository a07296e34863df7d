import { expect, test } from '@jest/globals';
import type { FigureKey } from '../../core/api/verdict.ts';
import { defaultRules, directionOf, gatingPlace, parseRules, rulesFor } from './rules.ts';

const acceptance: FigureKey = {
  ...{ measure: 'speculative_acceptance_length', stat: 'value', unit: 'tokens', definition: 'd' },
  ...{ origin: 'server', population: 'all', clock: 'sent', direction: 'higher' },
};

test('the acceptance of drafts is better when higher, is reported, and decides only when requested', () => {
  expect(directionOf('speculative_acceptance_length')).toBe('higher');
  expect(directionOf('speculative_acceptance_rate')).toBe('higher');
  expect(gatingPlace(defaultRules([]), acceptance)).toBe(-1);
  const choices = parseRules({ gate: ['speculative_acceptance_length'], margin: [] });
  expect(gatingPlace(rulesFor(choices, []), acceptance)).toBe(0);
});

test('other measures of servers never decide', () => {
  expect(gatingPlace(defaultRules([]), { ...acceptance, measure: 'error_ratio', unit: 'ratio' })).toBe(-1);
});
