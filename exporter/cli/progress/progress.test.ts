import { expect, test, describe } from '@jest/globals';
import { RecentValues, LiveLines } from './progress.ts';
import { screenOf } from '../testing/screen.ts';

const S = 1e9;

test('percentiles are of the last seconds, the one under way included', () => {
  const recent = new RecentValues(10);
  recent.add(0.5 * S, 100);
  for (const value of [1, 2, 3]) recent.add(5.2 * S, value);
  recent.add(6.9 * S, 4);
  expect(recent.count(6.95 * S, 2)).toBe(4);
  expect(recent.quantile(6.95 * S, 2, 0.5)).toBe(2.5);
  expect(recent.quantile(6.95 * S, 1, 0.99)).toBe(4);
  expect(recent.quantile(20 * S, 2, 0.5)).toBeNull();
});

test('medians by second, the oldest first, null where there is nothing', () => {
  const recent = new RecentValues(4);
  for (const value of [1, 3]) recent.add(1.1 * S, value);
  recent.add(3.1 * S, 7);
  expect(recent.medians(3.5 * S, 4)).toEqual([null, 2, null, 7]);
});

test('values older than the window are dropped', () => {
  const recent = new RecentValues(3);
  recent.add(0, 1);
  recent.add(3 * S, 2);
  expect(recent.medians(3 * S, 4)).toEqual([null, null, null, 2]);
});

test('a second with many values keeps its count and values of all of it', () => {
  const recent = new RecentValues(3);
  for (let i = 0; i < 20_000; i++) recent.add(S, i);
  expect(recent.count(S, 1)).toBe(20_000);
  // A median of 1,024 values chosen by chance of 0 … 19,999: within 5 standard deviations (1,560) of 10,000.
  const median = recent.quantile(S, 1, 0.5) ?? NaN;
  expect(Math.abs(median - 10_000)).toBeLessThan(1_600);
});

interface Terminal {
  readonly stream: NodeJS.WriteStream;
  /** What the terminal itself writes, or another program. */
  readonly echo: (text: string) => void;
  readonly screen: () => string[];
}

function terminal(columns = 80): Terminal {
  let written = '';
  const echo = (text: string): void => void (written += text);
  const stream = { isTTY: true, columns, write: (text: string) => (echo(text), true) };
  return {
    stream: stream as unknown as NodeJS.WriteStream,
    echo,
    screen: () => screenOf(written, stream.columns),
  };
}

describe('above what is redrawn stays', () => {
  test('a printed line', () => {
    const { stream, screen } = terminal();
    const display = new LiveLines(stream);
    display.draw(['sent 1', 'rate 1']);
    display.print('stopping');
    display.draw(['sent 2', 'rate 2']);
    display.draw(['sent 3', 'rate 3']);
    expect(screen()).toEqual(['stopping', 'sent 3', 'rate 3', '']);
    display.clear();
    expect(screen()).toEqual(['stopping', '']);
  });

  test('what another writes to the same stream, or to another one of the same terminal', () => {
    const { stream, echo, screen } = terminal();
    const out = { isTTY: true, write: (text: string) => (echo(text), true) } as unknown as NodeJS.WriteStream;
    const display = new LiveLines(stream, [out]);
    display.draw(['sent 1', 'rate 1']);
    stream.write('a warning of Node.js\n');
    display.draw(['sent 2', 'rate 2']);
    out.write('a line of the result\n');
    display.draw(['sent 3', 'rate 3']);
    expect(screen()).toEqual(['a warning of Node.js', 'a line of the result', 'sent 3', 'rate 3', '']);
    display.clear();
    out.write('end\n');
    expect(screen()).toEqual(['a warning of Node.js', 'a line of the result', 'end', '']);
  });

  test('a file beside the terminal does not clear it', () => {
    const { stream, screen } = terminal();
    const file = { isTTY: false, write: () => true } as unknown as NodeJS.WriteStream;
    new LiveLines(stream, [file]).draw(['sent 1']);
    file.write('a line of the result\n');
    expect(screen()).toEqual(['sent 1', '']);
  });
});

test('the ^C that the terminal writes leaves nothing behind', () => {
  const { stream, echo, screen } = terminal();
  const display = new LiveLines(stream);
  display.draw(['measure 1', 'rate 1']);
  echo('^C');
  display.print('stopping');
  display.draw(['measure 2', 'rate 2']);
  expect(screen()).toEqual(['stopping', 'measure 2', 'rate 2', '']);
  display.clear();
  echo('^C');
  display.print('cancelled');
  expect(screen()).toEqual(['stopping', 'cancelled', '']);
});

test('lines that a narrower window has broken are removed whole', () => {
  const written: string[] = [];
  const stream = { isTTY: true, columns: 80, write: (text: string) => (written.push(text), true) };
  const display = new LiveLines(stream as unknown as NodeJS.WriteStream);
  display.draw(['x'.repeat(79), 'rate']);
  stream.columns = 40;
  display.clear();
  expect(written.at(-1)).toBe('\r\x1b[3A\x1b[J');
});

test('a printed line is broken at spaces on a terminal, and not in a file', () => {
  const line = 'live metrics are not served, so Prometheus cannot scrape this run';
  const { stream, screen } = terminal(40);
  new LiveLines(stream).print(line);
  expect(screen()).toEqual(['live metrics are not served, so', 'Prometheus cannot scrape this run', '']);
  let file = '';
  new LiveLines({ isTTY: false, write: (text: string) => ((file += text), true) } as never).print(line);
  expect(file).toBe(`${line}\n`);
});
