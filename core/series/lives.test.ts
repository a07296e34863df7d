import { describe, expect, test } from '@jest/globals';
import { judgeLives, mayHaveContinued } from './lives.ts';
import { UNPROVEN, type Sighting } from './sighting.ts';

describe('lives', () => {
  const sighting = (step: Sighting['step'], more: Partial<Sighting> = {}): Sighting => ({
    step,
    counted: true,
    stood: false,
    family: 'x',
    ...UNPROVEN,
    ...more,
  });
  const many = (count: number, one: Sighting): Sighting[] => Array.from({ length: count }, () => one);

  describe('without start times', () => {
    test('most series decreased or vanished: all of them count from 0', () => {
      const { lives, restarted } = judgeLives([
        ...many(2, sighting('fell')),
        sighting('vanished'),
        ...many(2, sighting('continued')),
      ]);
      expect({ lives: new Set(lives), restarted }).toEqual({ lives: new Set(['anew']), restarted: true });
    });

    test('few decreased: the increase of the others is unclear, unless they were at 0', () => {
      const { lives, unclear } = judgeLives([
        sighting('fell'),
        ...many(2, sighting('continued')),
        sighting('continued', { counted: false }),
      ]);
      expect({ lives, unclear }).toEqual({ lives: ['anew', 'unclear', 'unclear', 'continues'], unclear: true });
    });

    test('one of many decreased: only that one was reset', () => {
      const { lives, restarted, unclear } = judgeLives([sighting('fell'), ...many(20, sighting('continued'))]);
      expect({ first: lives[0], others: new Set(lives.slice(1)), restarted, unclear }).toEqual({
        first: 'anew',
        others: new Set(['continues']),
        restarted: false,
        unclear: false,
      });
    });

    test('a server that shuts down drops series while others stay constant', () => {
      const { lives, restarted } = judgeLives([
        ...many(3, sighting('vanished')),
        sighting('continued', { stood: true }),
      ]);
      expect({ lives: new Set(lives), restarted }).toEqual({ lives: new Set(['continues']), restarted: false });
    });

    test('processes that the labels of all series name are judged one by one', () => {
      const pages = [sighting('fell', { process: 'a' }), sighting('continued', { process: 'b' })];
      expect(judgeLives(pages).lives).toEqual(['anew', 'continues']);
      expect(judgeLives([...pages, sighting('continued')]).lives).toEqual(['anew', 'unclear', 'unclear']);
    });
  });

  describe('with start times', () => {
    test('they decide, regardless of the numbers', () => {
      const { lives, restarted } = judgeLives([
        sighting('continued', { proof: 'renewed' }),
        sighting('continued', { proof: 'same' }),
      ]);
      expect({ lives, restarted }).toEqual({ lives: ['anew', 'continues'], restarted: true });
    });

    test('one series that decreases in a running process was reset alone', () => {
      const { lives, restarted } = judgeLives([
        sighting('fell', { proof: 'same' }),
        sighting('vanished', { proof: 'same' }),
        ...many(3, sighting('continued', { proof: 'same' })),
      ]);
      expect({ lives, restarted }).toEqual({
        lives: ['anew', 'continues', 'continues', 'continues', 'continues'],
        restarted: false,
      });
    });

    test('half of the series decreasing contradicts them', () => {
      const { lives } = judgeLives([
        ...many(2, sighting('fell', { proof: 'same' })),
        ...many(2, sighting('continued', { proof: 'same' })),
      ]);
      expect(new Set(lives)).toEqual(new Set(['unclear']));
    });

    test('so does half of them decreasing or vanishing, also for what appears: it may be of another server', () => {
      const { lives, unclear } = judgeLives([
        ...many(2, sighting('fell', { proof: 'same' })),
        sighting('vanished', { proof: 'same' }),
        ...many(3, sighting('continued', { proof: 'same' })),
        sighting('appeared', { proof: 'same', counted: false }),
      ]);
      expect({ lives: new Set(lives), unclear }).toEqual({ lives: new Set(['unclear']), unclear: true });
    });

    test('so does one that decreases with one that vanishes, when they are half of all', () => {
      const { lives } = judgeLives([
        sighting('fell', { proof: 'same' }),
        sighting('vanished', { proof: 'same' }),
        ...many(2, sighting('continued', { proof: 'same' })),
      ]);
      expect(new Set(lives)).toEqual(new Set(['unclear']));
    });

    test('a series that appears beside one that was reset alone counts from 0', () => {
      const { lives } = judgeLives([
        sighting('fell', { proof: 'same' }),
        ...many(3, sighting('continued', { proof: 'same' })),
        sighting('appeared', { proof: 'same', counted: false }),
      ]);
      expect(lives.at(-1)).toBe('continues');
    });
  });

  describe('on the page of a gateway', () => {
    const worker = (step: Sighting['step'], family: string, more: Partial<Sighting> = {}): Sighting =>
      sighting(step, { family, process: 'worker=a', ...more });

    test('its restart leaves open whether its workers continue', () => {
      const { lives } = judgeLives([
        ...many(3, sighting('fell')),
        worker('continued', 'x'),
        worker('continued', 'y'),
        worker('continued', 'z', { counted: false }),
      ]);
      expect(lives).toEqual(['anew', 'anew', 'anew', 'unclear', 'unclear', 'continues']);
    });

    test('its start time does too', () => {
      const renewed = { proofOfPage: 'renewed' } as const;
      const { lives, pageRestarted } = judgeLives([
        worker('continued', 'x', renewed),
        worker('continued', 'y', renewed),
      ]);
      expect({ lives, pageRestarted }).toEqual({ lives: ['unclear', 'unclear'], pageRestarted: true });
    });

    test('a series with a creation time of its own is decided', () => {
      const { lives } = judgeLives([
        ...many(3, sighting('fell')),
        worker('continued', 'x', { proof: 'same', isOwnProof: true }),
        worker('continued', 'y', { proof: 'renewed', isOwnProof: true }),
      ]);
      expect(lives.slice(3)).toEqual(['continues', 'anew']);
    });

    test('what it counts of its workers is its own', () => {
      const { lives } = judgeLives([...many(3, sighting('fell')), worker('continued', 'sent')]);
      expect(lives).toEqual(['anew', 'anew', 'anew', 'anew']);
    });

    test('a restarted worker leaves the gateway alone, but not what it may count of the worker', () => {
      const { lives } = judgeLives([
        ...many(3, sighting('continued')),
        worker('fell', 'x'),
        worker('fell', 'y'),
        worker('continued', 'sent'),
      ]);
      expect(lives).toEqual(['continues', 'continues', 'continues', 'anew', 'anew', 'unclear']);
    });

    test('one number that decreases beside a worker that continues may be of the gateway', () => {
      const { lives } = judgeLives([
        ...many(3, sighting('continued')),
        worker('fell', 'sent'),
        ...['x', 'y', 'z'].map((family) => worker('continued', family)),
      ]);
      expect(new Set(lives.slice(0, 3))).toEqual(new Set(['unclear']));
    });
  });
});

describe('returns', () => {
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
});
