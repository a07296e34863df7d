import { expect, test } from '@jest/globals';
import { mayHaveContinued } from './returns.ts';
import { UNPROVEN, type Sighting } from './sighting.ts';

const sighting = (more: Partial<Sighting>): Sighting => ({
  step: 'continued',
  counted: true,
  stood: false,
  family: 'x',
  ...UNPROVEN,
  process: 'worker=a',
  ...more,
});
const returning = ['x', 'y', 'z'].map((family) => sighting({ family }));
const others = ['x', 'y', 'z'].map((family) => sighting({ family, process: 'worker=b' }));

test('a worker returns with at least its old values: it may have continued', () => {
  expect(mayHaveContinued(returning, others)).toEqual(new Set(returning));
});

test('what was at 0 counts from 0 either way', () => {
  const idle = sighting({ counted: false });
  expect(mayHaveContinued([...returning, idle], others).has(idle)).toBe(false);
});

test('most of its series return below their old values: it restarted', () => {
  const fallen = ['x', 'y', 'z', 'u'].map((family) => sighting({ family, step: 'fell' }));
  expect(mayHaveContinued([...fallen, ...returning], others).size).toBe(0);
});

test('a part of its series returns while most of them were present: they count from 0', () => {
  const [one, ...rest] = returning;
  expect(mayHaveContinued(one === undefined ? [] : [one], [...rest, ...others]).size).toBe(0);
});

test('one of two returns: in doubt beside an old one, from 0 beside one that is newer than its absence', () => {
  const one = sighting({ family: 'x' });
  expect(mayHaveContinued([one], [sighting({ family: 'y' }), ...others])).toEqual(new Set([one]));
  expect(mayHaveContinued([one], [sighting({ family: 'y', step: 'appeared' }), ...others]).size).toBe(0);
});

test('a start time that names the worker decides', () => {
  const proven = returning.map((one): Sighting => ({ ...one, proof: 'same' }));
  expect(mayHaveContinued(proven, others).size).toBe(0);
});

test('series of the process of the page count from 0 when they return', () => {
  const ofPage = returning.map((one): Sighting => ({ ...one, process: '' }));
  expect(mayHaveContinued(ofPage, others).size).toBe(0);
});

test('a label that is not known to name workers, under the start time of the page', () => {
  const of = (shard: string): Sighting[] =>
    returning.map((one): Sighting => ({ ...one, process: '', mayName: new Map([['shard', shard]]), proof: 'same' }));
  const back = of('a');
  expect(mayHaveContinued(back, of('b'))).toEqual(new Set(back));
});
