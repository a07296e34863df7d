import { describe, expect, test } from '@jest/globals';
import { Linger, Scrapers, scrapeAdvice } from './linger.ts';

const A = '127.0.0.1';
const B = '10.0.0.7';

/** A run on a page of its own. */
class OnlyRun extends Linger {
  readonly #scrapers: Scrapers;

  constructor(maxSeconds: number) {
    const scrapers = new Scrapers();
    super(scrapers, 0, maxSeconds);
    this.#scrapers = scrapers;
  }

  scraped(remoteAddress: string, at_seconds: number): void {
    this.#scrapers.scraped(remoteAddress, at_seconds);
    this.fetched(remoteAddress);
  }
}

function lingerAfter(
  scrapes: readonly (readonly [remoteAddress: string, at_seconds: number])[],
  finished_seconds: number,
) {
  const linger = new OnlyRun(180);
  for (const [remoteAddress, at_seconds] of scrapes) linger.scraped(remoteAddress, at_seconds);
  linger.finished(finished_seconds);
  return linger;
}

describe('--linger auto', () => {
  test('nothing scraped: it ends at once and names the remedy', () => {
    const decision = lingerAfter([], 20).decide(20);
    expect(decision).toMatchObject({ done: true, reason: 'nobody_scraped' });
    expect(decision.done && decision.line).toMatch(/^nothing scraped .*llmbench serve.*\/sd$/);
  });

  test('nothing scraped yet, but a client discovers runs: it waits for the first scrape, at most 15 s', () => {
    const linger = new OnlyRun(180);
    linger.finished(20, true);
    expect(linger.decide(20)).toEqual({ done: false, recheck_seconds: 35 });
    expect(linger.decide(35)).toMatchObject({ done: true, reason: 'nobody_scraped' });
    linger.scraped(A, 34);
    expect(linger.decide(34).done).toBe(false);
    linger.scraped(A, 36);
    expect(linger.decide(36)).toEqual({ done: true, reason: 'all_fetched', line: null });
  });

  test('it does not wait longer for a discovery than --linger-max', () => {
    const linger = new OnlyRun(3);
    linger.finished(20, true);
    expect(linger.decide(20)).toEqual({ done: false, recheck_seconds: 23 });
  });

  test('a scraper every 2 s: it stays until the second scrape with the final values', () => {
    const linger = lingerAfter(
      [
        [A, 14],
        [A, 16],
        [A, 18],
      ],
      19,
    );
    // Gone would be at 18 + 2.5 × 2 s.
    expect(linger.decide(19)).toEqual({ done: false, recheck_seconds: 23 });
    linger.scraped(A, 20);
    expect(linger.decide(20)).toEqual({ done: false, recheck_seconds: 25 });
    linger.scraped(A, 22);
    expect(linger.decide(22)).toEqual({ done: true, reason: 'all_fetched', line: null });
  });

  test('two scrapers: it waits for the slower one', () => {
    const linger = lingerAfter(
      [
        [A, 10],
        [B, 5],
        [A, 12],
        [B, 15],
        [A, 14],
      ],
      16,
    );
    for (const at of [16.5, 18.5]) linger.scraped(A, at);
    linger.scraped(B, 25);
    // B's interval is 10 s: gone would be at 25 + 25 s.
    expect(linger.decide(25)).toEqual({ done: false, recheck_seconds: 50 });
    linger.scraped(B, 35);
    expect(linger.decide(35)).toMatchObject({ done: true, reason: 'all_fetched' });
  });

  test('a scraper that stopped long before the end does not hold it', () => {
    const linger = lingerAfter(
      [
        [A, 1],
        [A, 3],
        [B, 16],
        [B, 18],
      ],
      20,
    );
    linger.scraped(B, 20);
    linger.scraped(B, 22);
    // A would have been due at 5 s and is gone since 8 s; it lacks the end of the run, so that is said.
    expect(linger.decide(22)).toMatchObject({ done: true, reason: 'scrapers_gone' });
  });

  test('a scraper that stops during the wait is waited for two and a half of its intervals', () => {
    const linger = lingerAfter(
      [
        [A, 14],
        [A, 16],
        [A, 18],
      ],
      19,
    );
    linger.scraped(A, 20);
    expect(linger.decide(24.9)).toEqual({ done: false, recheck_seconds: 25 });
    const decision = linger.decide(25);
    expect(decision).toMatchObject({ done: true, reason: 'scrapers_gone' });
    expect(decision.done && decision.line).toContain(A);
  });

  test('a scraper seen once is waited for as long as one with an interval of a minute needs', () => {
    const linger = lingerAfter([[A, 10]], 20);
    expect(linger.decide(20)).toEqual({ done: false, recheck_seconds: 85 });
    linger.scraped(A, 70);
    // Now the interval is known: 60 s, and gone would be at 220 s, after the limit of 20 + 180.
    expect(linger.decide(70)).toEqual({ done: false, recheck_seconds: 200 });
    linger.scraped(A, 130);
    expect(linger.decide(130)).toMatchObject({ done: true, reason: 'all_fetched' });
  });

  test('the limit ends it and reports which scraper lacks which values', () => {
    const linger = lingerAfter(
      [
        [A, 0],
        [A, 150],
      ],
      160,
    );
    linger.scraped(A, 300);
    expect(linger.decide(339)).toEqual({ done: false, recheck_seconds: 340 });
    const decision = linger.decide(340);
    expect(decision).toMatchObject({ done: true, reason: 'limit' });
    expect(decision.done && decision.line).toMatch(/127\.0\.0\.1 had not fetched .* within 180 s.*--linger-max/);
  });

  test('a scraper that comes first during the wait must have the final values twice as well', () => {
    const linger = lingerAfter(
      [
        [A, 16],
        [A, 18],
      ],
      19,
    );
    linger.scraped(A, 20);
    linger.scraped(B, 21);
    linger.scraped(A, 22);
    expect(linger.decide(22)).toMatchObject({ done: false });
    linger.scraped(B, 23);
    expect(linger.decide(23)).toMatchObject({ done: true, reason: 'all_fetched' });
  });

  test('one late scrape does not make a scraper look gone at its next', () => {
    const linger = lingerAfter(
      [
        [A, 10],
        [A, 12],
        [A, 16],
        [A, 18],
      ],
      19,
    );
    // The longest of its last gaps is 4 s.
    expect(linger.decide(27.9)).toEqual({ done: false, recheck_seconds: 28 });
  });

  test('it cannot be queried before the run has finished', () => {
    expect(() => new OnlyRun(180).decide(0)).toThrow('not finished');
  });

  describe('of the second run on a page', () => {
    const scrapersEvery2s = (): Scrapers => {
      const scrapers = new Scrapers();
      for (const at of [10, 12, 14]) scrapers.scraped(A, at);
      return scrapers;
    };

    test('a scraper of the first run is waited for, although it has not come since the second began', () => {
      const scrapers = scrapersEvery2s();
      const second = new Linger(scrapers, 14.5, 180);
      second.finished(15);
      expect(second.decide(15)).toEqual({ done: false, recheck_seconds: 19 });
      for (const at of [16, 18]) {
        scrapers.scraped(A, at);
        second.fetched(A);
      }
      expect(second.decide(18)).toMatchObject({ done: true, reason: 'all_fetched' });
    });

    test('a scraper that had stopped before the second run began is not expected', () => {
      const second = new Linger(scrapersEvery2s(), 30, 180);
      second.finished(32);
      expect(second.decide(32)).toMatchObject({ done: true, reason: 'nobody_scraped' });
    });
  });
});

test('a run of fewer than four scrapes has no lines over time', () => {
  expect(scrapeAdvice('10.0.0.1', 15.02, 40.3)).toBe(
    '10.0.0.1 scrapes every 15 s, and this run took 41 s: lines over time need 4 scrapes of a run (the shipped prometheus.yml scrapes every 2 s); its results are exact all the same',
  );
  expect(scrapeAdvice('10.0.0.1', 15, 60)).toBeNull();
  expect(scrapeAdvice('10.0.0.1', 2.01, 20)).toBeNull();
  expect(scrapeAdvice('10.0.0.1', 2.2, 5)).toBeNull();
});

test('at more than a minute the rules have gaps, however long the run', () => {
  expect(scrapeAdvice('10.0.0.1', 90, 3600)).toBe(
    '10.0.0.1 scrapes every 90 s: the recording rules and alerts need a scrape every 60 s or more often',
  );
  expect(scrapeAdvice('10.0.0.1', 60.4, 3600)).toBeNull();
});

test('the interval that was seen is that of the slowest scraper, and one late scrape does not change it', () => {
  const scrapers = new Scrapers();
  for (const second of [0, 2, 4, 6]) scrapers.scraped('fast', second);
  expect(scrapers.slowest()).toEqual({ address: 'fast', interval_seconds: 2 });
  for (const second of [1, 16, 31, 61, 76, 91]) scrapers.scraped('slow', second);
  scrapers.scraped('once', 5);
  expect(scrapers.slowest()).toEqual({ address: 'slow', interval_seconds: 15 });
});
